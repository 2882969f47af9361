/* SPDX-License-Identifier: MIT */
/* code_files.h - the programs and libraries whose code a stack is in. Each file is read when an address in it is first shown. */
#ifndef CODE_FILES_H
#define CODE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "report/line.h"

struct code_file;

/* All of them. Zeros are none. */
struct code_files {
	void *tree;
	size_t used; /* bytes of memory for symbols */
};

/* The file that was there with this build id, in hexadecimal digits; "": with any. NULL: there is no memory. */
struct code_file *code_files_get(struct code_files *files, const char *path, const char *build_id);
void code_files_free(struct code_files *files);

/* The return address at an offset of the file: "function+0x1c", or "file(+0x13f2)" where no function is known. */
void code_file_put(struct line *line, struct code_files *files, struct code_file *file, uint64_t offset);

#endif /* CODE_FILES_H */
