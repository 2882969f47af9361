/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's trace headers take for granted, for user space: as much
 * of it as the headers that tests/kernel/test_compat.py carries over need.
 */
#ifndef COMPAT_H
#define COMPAT_H

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "macros.h"

/* ---- linux/types.h ---- */

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;
typedef u8 __u8;
typedef u16 __u16, __be16, __le16;
typedef u32 __u32, __be32, __le32;
typedef u64 __u64, __be64, __le64;
typedef s8 __s8;
typedef s16 __s16;
typedef s32 __s32;
typedef s64 __s64;
typedef unsigned int gfp_t, fmode_t, blk_opf_t;
typedef u64 phys_addr_t, dma_addr_t, resource_size_t, sector_t;
typedef unsigned long pgoff_t;
typedef s64 ktime_t, time64_t;
typedef s32 dma_cookie_t;
/* In the kernel these are of other types than in the C library, which its formats rely on. */
#define uint64_t u64
#define int64_t s64
#define loff_t s64
#define dev_t u32


/* ---- Words that say nothing to a compiler of user space ---- */

#define __force
#define __iomem
#define __percpu
#define __user
#define __bitwise
#define __maybe_unused __attribute__((unused))
#define notrace __attribute__((no_instrument_function))
#define PARAMS(args...) args

/* ---- Numbers ---- */

#define PAGE_SHIFT 12
#define TASK_COMM_LEN 16
#define MII_BUS_ID_SIZE 61
#define USEC_PER_MSEC 1000L
#define NSEC_PER_MSEC 1000000L
#define HZ 250
#define MAX_ERRNO 4095
#define IFNAMSIZ 16
#define jiffies 4294667296UL
#define nr_cpumask_bits 70

typedef struct {
	int counter;
} atomic_t, refcount_t;

#define atomic_read(v) ((v)->counter)
#define refcount_read(v) ((v)->counter)
#define READ_ONCE(x) (x)

static inline ssize_t compat_strscpy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
	return (ssize_t)len;
}
#define strscpy(to, from, size) compat_strscpy((char *)(to), (const char *)(from), size)
#define strlcpy strscpy

#define smp_processor_id() 3
#define raw_smp_processor_id() 3

/* ---- Objects, of the members that trace headers read; pointers to these types are passed a compat_NAME ---- */

struct list_head {
	struct list_head *next, *prev;
};
struct hlist_node;
struct rb_node;

struct cpumask {
	unsigned long bits[16]; /* as many as glibc's cpu_set_t, which is what __cpumask records */
};
#define cpumask_bits(mask) ((mask)->bits)
#define cpumask_pr_args(mask) nr_cpumask_bits, cpumask_bits(mask)
extern struct cpumask compat_cpumask;

struct dev_pm_info {
	atomic_t usage_count, child_count;
	unsigned int disable_depth : 3, runtime_auto : 1, request_pending : 1, irq_safe : 1;
};
struct device {
	struct device *parent;
	const char *name, *driver;
	u64 *dma_mask;
	struct dev_pm_info power;
};
extern struct device compat_device;

static inline const char *dev_name(const struct device *dev)
{
	return dev->name;
}

static inline const char *dev_driver_string(const struct device *dev)
{
	return dev->driver;
}

struct mm_struct {
	unsigned long total_vm;
	int mm_mt;
};
struct task_struct {
	char comm[TASK_COMM_LEN];
	pid_t pid, tgid;
	int prio, exit_state;
	struct mm_struct *mm;
};
extern struct task_struct compat_task_struct;
#define current (&compat_task_struct)

struct va_format {
	const char *fmt;
	va_list *va;
};
extern struct va_format compat_va_format;

/* Calls a function while compat_va_format stands for the text. */
void compat_with_format(void (*function)(void), const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct net_device {
	char name[IFNAMSIZ];
	int ifindex;
	unsigned char addr_len;
};
struct napi_struct {
	struct net_device *dev;
};
struct net_device_ops;
extern struct net_device compat_net_device;
extern struct napi_struct compat_napi_struct;

struct page;
struct page_pool {
	struct {
		int nid;
	} p;
	u64 destroy_cnt;
};
extern struct page_pool compat_page_pool;
#define page_to_pfn(page) ((unsigned long)(uintptr_t)(page) >> PAGE_SHIFT)
#define pfn_to_page(pfn) ((struct page *)((uintptr_t)(pfn) << PAGE_SHIFT))

struct timerqueue_node {
	ktime_t expires;
};
struct rtc_timer {
	struct timerqueue_node node;
	ktime_t period;
};
extern struct rtc_timer compat_rtc_timer;

enum alarmtimer_type {
	ALARM_REALTIME,
	ALARM_BOOTTIME,
	ALARM_REALTIME_FREEZER,
	ALARM_BOOTTIME_FREEZER,
};
struct alarm {
	struct timerqueue_node node;
	enum alarmtimer_type type;
};
extern struct alarm compat_alarm;

struct dma_fence;
struct dma_fence_ops {
	const char *(*get_driver_name)(struct dma_fence *fence);
	const char *(*get_timeline_name)(struct dma_fence *fence);
};
struct dma_fence {
	const struct dma_fence_ops *ops;
	u64 context, seqno;
};
extern struct dma_fence compat_dma_fence;

struct mii_bus {
	char id[MII_BUS_ID_SIZE];
};
extern struct mii_bus compat_mii_bus;

struct selinux_audit_data {
	u32 requested, denied, audited;
	int result;
};
extern struct selinux_audit_data compat_selinux_audit_data;

struct damon_target;
struct damon_region {
	struct {
		unsigned long start, end;
	} ar;
	unsigned int nr_accesses, age;
};
extern struct damon_region compat_damon_region;

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *head);
};
#define RCU_CBLIST_NSEGS 4
struct rcu_segcblist {
	unsigned long gp_seq[RCU_CBLIST_NSEGS];
	long seglen[RCU_CBLIST_NSEGS];
};
#define RCU_DONE_TAIL 0
#define RCU_WAIT_TAIL 1
#define RCU_NEXT_READY_TAIL 2
#define RCU_NEXT_TAIL 3
extern struct rcu_head compat_rcu_head;
extern struct rcu_segcblist compat_rcu_segcblist;

struct mctp_sk_key {
	u8 local_addr, peer_addr, tag;
};
extern struct mctp_sk_key compat_mctp_sk_key;

struct devfreq_dev_status {
	unsigned long total_time, busy_time, current_frequency;
};
struct devfreq {
	struct device dev;
	struct {
		unsigned int polling_ms;
	} *profile;
	unsigned long previous_freq;
	struct devfreq_dev_status last_status;
};
extern struct devfreq compat_devfreq;

struct clk_core {
	const char *name;
};
struct clk_duty {
	unsigned int num, den;
};
extern struct clk_core compat_clk_core;
extern struct clk_duty compat_clk_duty;

enum pwm_polarity {
	PWM_POLARITY_NORMAL,
	PWM_POLARITY_INVERSED,
};
struct pwm_device {
	struct {
		int id;
	} *chip;
	unsigned int hwpwm;
};
struct pwm_state {
	u64 period, duty_cycle;
	enum pwm_polarity polarity;
	bool enabled;
};
extern struct pwm_device compat_pwm_device;
extern struct pwm_state compat_pwm_state;

struct irqaction {
	int (*handler)(int irq, void *dev_id);
	void *dev_id;
	const char *name;
};
struct softirq_action;
struct tasklet_struct {
	bool use_callback;
	union {
		void (*func)(unsigned long data);
		void (*callback)(struct tasklet_struct *t);
	};
};
extern struct irqaction compat_irqaction;
extern struct tasklet_struct compat_tasklet_struct;
enum {
	HI_SOFTIRQ,
	TIMER_SOFTIRQ,
	NET_TX_SOFTIRQ,
	NET_RX_SOFTIRQ,
	BLOCK_SOFTIRQ,
	IRQ_POLL_SOFTIRQ,
	TASKLET_SOFTIRQ,
	SCHED_SOFTIRQ,
	HRTIMER_SOFTIRQ,
	RCU_SOFTIRQ,
};

struct ma_state {
	unsigned long index, last, min, max;
	void *node;
};
extern struct ma_state compat_ma_state;

struct i2c_adapter {
	int nr;
};
struct i2c_msg {
	u16 addr, flags, len;
	u8 *buf;
};
struct i2c_client {
	u16 addr;
	struct i2c_adapter *adapter;
};
extern struct i2c_adapter compat_i2c_adapter;
extern struct i2c_msg compat_i2c_msg;
extern struct i2c_client compat_i2c_client;
enum i2c_slave_event {
	I2C_SLAVE_READ_REQUESTED,
	I2C_SLAVE_WRITE_REQUESTED,
	I2C_SLAVE_READ_PROCESSED,
	I2C_SLAVE_WRITE_RECEIVED,
	I2C_SLAVE_STOP,
};
#define I2C_SMBUS_BLOCK_MAX 32
union i2c_smbus_data {
	u8 byte;
	u16 word;
	u8 block[I2C_SMBUS_BLOCK_MAX + 2];
};
extern union i2c_smbus_data compat_i2c_smbus_data;

typedef int (*initcall_t)(void);

struct sock;
struct dma_chan_dev {
	struct device device;
};
struct dma_chan {
	struct dma_chan_dev *dev;
};
struct dma_tx_state {
	u32 residue;
};
extern struct dma_chan compat_dma_chan;
extern struct dma_tx_state compat_dma_tx_state;

struct siox_device {
	size_t inbytes, outbytes;
};
struct siox_master {
	int busno;
	u8 *buf;
};
extern struct siox_device compat_siox_device;
extern struct siox_master compat_siox_master;

struct watchdog_device {
	int id;
};
extern struct watchdog_device compat_watchdog_device;

enum thermal_trip_type {
	THERMAL_TRIP_ACTIVE,
	THERMAL_TRIP_PASSIVE,
	THERMAL_TRIP_HOT,
	THERMAL_TRIP_CRITICAL,
};
struct thermal_cooling_device {
	const char *type;
};
struct thermal_zone_device {
	int id, temperature, last_temperature;
	char type[20];
};
extern struct devfreq_dev_status compat_devfreq_dev_status;
extern struct thermal_cooling_device compat_thermal_cooling_device;
extern struct thermal_zone_device compat_thermal_zone_device;

typedef void (*work_func_t)(void *work);
struct workqueue_struct {
	char name[24];
};
struct worker_pool {
	int cpu;
};
struct pool_workqueue {
	struct workqueue_struct *wq;
	struct worker_pool *pool;
};
struct work_struct {
	work_func_t func;
};
extern struct pool_workqueue compat_pool_workqueue;
extern struct work_struct compat_work_struct;

struct neigh_table {
	int family;
	atomic_t gc_entries;
};
struct neighbour {
	struct neigh_table *tbl;
	struct net_device *dev;
	unsigned long confirmed, updated, used;
	refcount_t refcnt;
	u32 flags;
	u8 nud_state, type, dead, protocol;
	u8 ha[32], primary_key[16];
};
extern struct neigh_table compat_neigh_table;
extern struct neighbour compat_neighbour;
#define MAX_ADDR_LEN 32

static inline void ipv6_addr_set_v4mapped(const __be32 addr, struct in6_addr *v4mapped)
{
	memset(v4mapped, 0, 10);
	memset(v4mapped->s6_addr + 10, 0xff, 2);
	memcpy(v4mapped->s6_addr + 12, &addr, 4);
}

enum tlb_flush_reason {
	TLB_FLUSH_ON_TASK_SWITCH,
	TLB_REMOTE_SHOOTDOWN,
	TLB_LOCAL_SHOOTDOWN,
	TLB_LOCAL_MM_SHOOTDOWN,
	TLB_REMOTE_SEND_IPI,
	TLB_REMOTE_WRONG_CPU,
	NR_TLB_FLUSH_REASONS,
};

/* For pointers to numbers, whatever their type. */
extern u8 compat_bytes[256];

#endif /* COMPAT_H */
