/* SPDX-License-Identifier: MIT */
/*
 * start/hist.h - TP_HIST: where the histograms of TP_TRIGGER are written when the program ends.
 */
#ifndef TP_START_HIST_H
#define TP_START_HIST_H

/* path is TP_HIST; NULL: standard error, as it is now. */
void tp_start_hists_begin(const char *path);

/* Writes them. */
void tp_start_hists_end(void);

#endif /* TP_START_HIST_H */
