// SPDX-License-Identifier: MIT
/* The objects that compat.h declares, with values that differ. */
#include "compat.h"

static const char *driver_name(struct dma_fence *fence)
{
	return fence->seqno ? "driver" : "none";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return fence->seqno ? "timeline" : "none";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
};
static u64 dma_mask = 0xffffffff;
static struct device parent = {.name = "parent"};
static struct mm_struct mm = {.total_vm = 1234};
static struct workqueue_struct workqueue = {.name = "events"};
static struct worker_pool pool = {.cpu = 2};

struct cpumask compat_cpumask = {.bits = {0x8000000300000001, 0x21}};
struct device compat_device = {
	.parent = &parent,
	.name = "device-1",
	.driver = "driver-1",
	.dma_mask = &dma_mask,
	.power = {
		.usage_count = {2},
		.child_count = {3},
		.disable_depth = 1,
		.runtime_auto = 1,
		.irq_safe = 1,
	},
};
struct task_struct compat_task_struct = {.comm = "a task", .pid = 4321, .tgid = 4320, .prio = 120, .mm = &mm};
struct net_device compat_net_device = {.name = "eth7", .ifindex = 7, .addr_len = 6};
struct napi_struct compat_napi_struct = {.dev = &compat_net_device};
struct page_pool compat_page_pool = {.p = {.nid = 1}, .destroy_cnt = 5};
struct rtc_timer compat_rtc_timer = {.node = {.expires = 1700000000000000000}, .period = 250};
struct alarm compat_alarm = {.node = {.expires = 1600000000000000000}, .type = ALARM_BOOTTIME};
struct dma_fence compat_dma_fence = {.ops = &fence_ops, .context = 11, .seqno = 12};
struct mii_bus compat_mii_bus = {.id = "mii-0"};
struct selinux_audit_data compat_selinux_audit_data = {.requested = 1, .denied = 2, .audited = 3, .result = -13};
struct damon_region compat_damon_region = {.ar = {.start = 4096, .end = 8192}, .nr_accesses = 6, .age = 7};
struct rcu_head compat_rcu_head;
struct rcu_segcblist compat_rcu_segcblist = {.gp_seq = {1, 2, 3, 4}, .seglen = {5, 6, 7, 8}};
struct mctp_sk_key compat_mctp_sk_key = {.local_addr = 8, .peer_addr = 9, .tag = 10};
struct devfreq compat_devfreq = {
	.dev = {.name = "devfreq0"},
	.profile = &(__typeof__(*compat_devfreq.profile)){.polling_ms = 40},
	.previous_freq = 100,
	.last_status = {.total_time = 1000, .busy_time = 300, .current_frequency = 200},
};
struct clk_core compat_clk_core = {.name = "clk"};
struct clk_duty compat_clk_duty = {.num = 1, .den = 2};
struct pwm_device compat_pwm_device = {
	.chip = &(__typeof__(*compat_pwm_device.chip)){.id = 2},
	.hwpwm = 3,
};
struct pwm_state compat_pwm_state = {
	.period = 1000000,
	.duty_cycle = 250000,
	.polarity = PWM_POLARITY_INVERSED,
	.enabled = true,
};
struct irqaction compat_irqaction = {.name = "irq-name"};
struct tasklet_struct compat_tasklet_struct;
struct ma_state compat_ma_state = {.index = 1, .last = 2, .min = 3, .max = 4};
struct i2c_adapter compat_i2c_adapter = {.nr = 1};
struct i2c_msg compat_i2c_msg = {.addr = 0x50, .flags = 1, .len = 5, .buf = compat_bytes};
struct i2c_client compat_i2c_client = {.addr = 0x51, .adapter = &compat_i2c_adapter};
union i2c_smbus_data compat_i2c_smbus_data = {.block = {4, 1, 2, 3, 0xfe}};
struct dma_chan compat_dma_chan = {.dev = &(struct dma_chan_dev){.device = {.name = "dma0chan1"}}};
struct dma_tx_state compat_dma_tx_state = {.residue = 512};
struct siox_device compat_siox_device = {.inbytes = 2, .outbytes = 3};
struct siox_master compat_siox_master = {.busno = 1, .buf = compat_bytes};
struct watchdog_device compat_watchdog_device = {.id = 1};
struct devfreq_dev_status compat_devfreq_dev_status = {.total_time = 900, .busy_time = 450};
struct thermal_cooling_device compat_thermal_cooling_device = {.type = "fan"};
struct thermal_zone_device compat_thermal_zone_device = {
	.id = 1,
	.temperature = 42000,
	.last_temperature = 41000,
	.type = "acpitz",
};
struct pool_workqueue compat_pool_workqueue = {.wq = &workqueue, .pool = &pool};
struct work_struct compat_work_struct;
struct neigh_table compat_neigh_table = {.family = AF_INET, .gc_entries = {17}};
struct neighbour compat_neighbour = {
	.tbl = &compat_neigh_table,
	.dev = &compat_net_device,
	.confirmed = 1,
	.updated = 2,
	.used = 3,
	.refcnt = {4},
	.flags = 5,
	.nud_state = NUD_STALE,
	.type = 1,
	.ha = {2, 0x42, 0xac, 0x11, 0, 2},
	.primary_key = {192, 168, 1, 77},
};

u8 compat_bytes[256] = {1, 2, 3, 0x7f, 0x80, 0xfe, 0xff, 'a', 'b', 'c'};

struct va_format compat_va_format;

void compat_with_format(void (*function)(void), const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	compat_va_format = (struct va_format){.fmt = fmt, .va = &ap};
	function();
	va_end(ap);
}

/* What TRACE_EVENT_FN calls in the kernel's i2c and mm, when the first probe comes and when the last has gone. */
int i2c_transfer_trace_reg(void)
{
	return 0;
}

void i2c_transfer_trace_unreg(void)
{
}

int trace_mmap_lock_reg(void)
{
	return 0;
}

void trace_mmap_lock_unreg(void)
{
}
