/* SPDX-License-Identifier: MIT */
/*
 * pool.h - the threads that compress, and the queue in front of them.
 *
 * The queue has no bound of its own: whoever submits has so many blocks and
 * no more.
 */
#ifndef PGZ_POOL_H
#define PGZ_POOL_H

struct block;
struct pool;

/* NULL with errno set. level is that of deflater_create(). */
struct pool *pool_create(unsigned int nr_threads, int level);

/* Ends the threads, once the queue is empty. */
void pool_destroy(struct pool *pool);

/* Hands block over to be compressed; it must not be touched until pool_wait() has returned for it. */
void pool_submit(struct pool *pool, struct block *block);

/* Waits until block, which was submitted, is compressed. */
void pool_wait(struct pool *pool, const struct block *block);

#endif /* PGZ_POOL_H */
