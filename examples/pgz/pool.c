// SPDX-License-Identifier: MIT
/*
 * pool.c - the threads that compress, and the queue in front of them.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "pgz.h"

#include "block.h"
#include "deflate.h"
#include "pool.h"

struct worker {
	struct pool *pool;
	struct deflater *deflater;
	pthread_t thread;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t work; /* a block was queued, or stop set */
	pthread_cond_t done; /* a block's done was set */

	/* under lock */
	struct block *head, **tail;
	unsigned int waiting; /* blocks in the queue */
	bool stop;

	unsigned int nr_workers; /* that run */
	struct worker workers[];
};

void pool_submit(struct pool *pool, struct block *block)
{
	block->done = false;
	block->next = NULL;

	pthread_mutex_lock(&pool->lock);
	/* Before any thread can take the block: in the trace, too, it is queued before it is started. */
	trace_pgz_block_queue(block->name, block->number, block->in_len, block->last, pool->waiting + 1);
	*pool->tail = block;
	pool->tail = &block->next;
	pool->waiting++;
	trace_pgz_waiting(pool->waiting);
	pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

void pool_wait(struct pool *pool, const struct block *block)
{
	trace_pgz_step('B', "wait");
	pthread_mutex_lock(&pool->lock);
	while (!block->done)
		pthread_cond_wait(&pool->done, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
	trace_pgz_step('E', "wait");
}

/* The next block, or NULL when there will be no more. Called with the lock held. */
static struct block *take_block(struct pool *pool)
{
	struct block *block;

	while (!pool->head && !pool->stop)
		pthread_cond_wait(&pool->work, &pool->lock);
	block = pool->head;
	if (!block)
		return NULL;
	pool->head = block->next;
	if (!pool->head)
		pool->tail = &pool->head;
	pool->waiting--;
	trace_pgz_waiting(pool->waiting);
	return block;
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct pool *pool = worker->pool;
	struct block *block;

	pthread_mutex_lock(&pool->lock);
	while ((block = take_block(pool))) {
		unsigned int waiting = pool->waiting;

		pthread_mutex_unlock(&pool->lock);
		trace_pgz_block_start(block->name, block->number, block->in_len, block->last, waiting);
		trace_pgz_step('B', "compress");
		deflate_block(worker->deflater, block);
		trace_pgz_step('E', "compress");
		pthread_mutex_lock(&pool->lock);
		block->done = true;
		pthread_cond_signal(&pool->done);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* 0 or a positive errno value. */
static int start_worker(struct pool *pool, struct worker *worker, int level)
{
	int err;

	worker->pool = pool;
	worker->deflater = deflater_create(level);
	if (!worker->deflater)
		return ENOMEM;
	err = pthread_create(&worker->thread, NULL, worker_main, worker);
	if (err)
		deflater_destroy(worker->deflater);
	return err;
}

struct pool *pool_create(unsigned int nr_threads, int level)
{
	struct pool *pool = calloc(1, sizeof(*pool) + nr_threads * sizeof(pool->workers[0]));
	sigset_t all, old;
	int err = 0;

	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->done, NULL);
	pool->tail = &pool->head;

	/* Signals are for the main thread, which knows when it may be interrupted. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (pool->nr_workers < nr_threads && !err) {
		err = start_worker(pool, &pool->workers[pool->nr_workers], level);
		if (!err)
			pool->nr_workers++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);

	if (err) {
		pool_destroy(pool);
		errno = err;
		return NULL;
	}
	return pool;
}

void pool_destroy(struct pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned int i = 0; i < pool->nr_workers; i++) {
		pthread_join(pool->workers[i].thread, NULL);
		deflater_destroy(pool->workers[i].deflater);
	}
	pthread_cond_destroy(&pool->done);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}
