"""The directions of every family of the suite, written down before anything was measured.

docs/results-suite.md is where people read them.
"""

from collections.abc import Mapping

from suite.expectation import Expectation

MEASURED = "measured on MariaDB 10.11.19, two cores (docs/references.md)"
POOL = "sql/threadpool_generic.cc: one active thread stops its group until the timer finds it stalled"
BELOW = "a closed system with pauses below saturation has the throughput of its clients"
TOLD = "the server tells the pool (thd_wait_begin), which lets another thread run at once"

EXPECTATIONS: Mapping[str, Expectation] = {
    "points_beside_scans": Expectation(
        "change",
        "a scan holds the one active thread of its group, and the point selects of the group wait for the timer",
        "more groups leave some without a scan; a shorter stall limit ends the wait sooner",
        f"{POOL}; {MEASURED}: 11 to 100 times under size 16 to 64, x4 to x70 under 10 ms alone",
        pool_size="up",
        timer_interval_ms="down",
    ),
    "pausing_beside_scans": Expectation(
        "change",
        "as without think time, but the point selects need a fraction of the processors",
        "what waits behind a scan is latency, which more groups and a shorter stall limit take away",
        f"{POOL}; {MEASURED}: (16, 3, 10) 20 times the default",
        pool_size="up",
        timer_interval_ms="down",
    ),
    "mixed_beside_analytics": Expectation(
        "change",
        "aggregations hold the active threads of their groups; updates also wait for the log",
        "more groups leave some without an aggregation; a shorter stall limit ends the wait sooner",
        f"{POOL}; a review measured such mixes at 72 to 132 connections: (16, 3, 10) 97 to 100 % of the best of eight",
        pool_size="up",
        timer_interval_ms="down",
    ),
    "remote_calls": Expectation(
        "change",
        "threads: a call waits 20 ms and the pool counts its thread as active, so two groups run a few calls at a time",
        "the processors idle; throughput grows with the threads that may be active",
        "a wait for a replication domain of its own tells nothing (sql/rpl_gtid.cc; no counter of "
        "THREAD_POOL_WAITS moves), as a UDF or an engine that calls a service does",
        pool_size="up",
        oversubscribe="up",
        timer_interval_ms="down",
    ),
    "dump_beside": Expectation(
        "change",
        "a chunk of a dump keeps its thread on the processor for as long as a scan; its reads and writes are reported",
        "as beside scans: more groups, or a shorter stall limit",
        f"{POOL}; row conversion tells nothing, DISKIO and NET do (buf0rea.cc, sql/scheduler.cc)",
        pool_size="up",
        timer_interval_ms="down",
    ),
    "hot_rows_256": Expectation(
        "change",
        "row locks: the more transactions run at once, the more collide",
        "fewer groups let fewer transactions begin, and those inside end sooner",
        f"{MEASURED}: size 1 about +35 %, 16 -14 %, 32 to 64 down to -36 % at 256 connections",
        pool_size="down",
    ),
    "hot_round_trips": Expectation(
        "flat",
        "the client's round trips, during which the rows stay locked; the processors idle",
        "a waiter tells the pool of its row lock, and the next statement of a transaction has priority",
        f"{TOLD}: ROW_LOCK (lock0lock.cc); transactions go to the queue of high priority",
    ),
    "orders_2": Expectation(
        "change",
        "row locks of two warehouses, which every payment and every order wants",
        "fewer groups let fewer transactions collide",
        "payments on 4 warehouses gained 17 % from one group where it was measured",
        pool_size="down",
    ),
    "orders_20": Expectation(
        "flat",
        "processor time: 20 warehouses have 200 districts, more than connections",
        "two groups keep two processors busy; short statements leave no group stalled",
        f"{MEASURED}: nothing beyond noise under read-only and point selects that saturate the processors",
    ),
    "slow_flushes": Expectation(
        "change",
        "the flush: the thread that leads a group of commits waits 5 ms and tells nobody, and its group waits with it",
        "more groups hold fewer connections behind a leader, so more commits join each flush",
        "log0sync.cc: followers tell the pool (GROUP_COMMIT) or leave the thread, the leader does neither; read and "
        "write on a slow disk gained 36 % from (16, 3, 10), noise 24 %",
        pool_size="up",
        timer_interval_ms="down",
    ),
    "binlog_commits": Expectation(
        "flat",
        "groups of commits behind the binary log's flush, on a disk that flushes in well under a millisecond",
        "followers tell the pool (GROUP_COMMIT), and the flush of the binary log does (SYNC): other threads run",
        f"{TOLD}; both counters of THREAD_POOL_WAITS rise under it; {MEASURED}: update index flat within 18 % noise",
    ),
    "slow_disk_orders": Expectation(
        "change",
        "flushes and page writes of 5 and 2 ms that leaders and evictions wait for, unreported",
        "more groups go on while one waits",
        f"{MEASURED}: (16, 3, 10) +36 %, noise 24 %, at 64 connections",
        pool_size="up",
        timer_interval_ms="down",
    ),
    "disk_bound_reads": Expectation(
        "flat",
        "the disk and the processors: most point selects read a page",
        "a read of a page is reported, so other threads run",
        f"{TOLD}: DISKIO (buf0rea.cc); {MEASURED}: nothing beyond noise",
    ),
    "sleeps_and_locks": Expectation(
        "flat",
        "the sleeps and the user locks themselves; the processors idle",
        "both waits are reported",
        f"{TOLD}: SLEEP (item_func.cc), META_DATA_LOCK for GET_LOCK (mdl.cc); {MEASURED}: nothing beyond noise",
    ),
    "half_loaded": Expectation(
        "flat",
        "the arrivals: half of what the server completes",
        "every configuration completes what is offered; queues are short",
        "an open system below saturation has the throughput of its arrivals",
    ),
    "overload_bursts": Expectation(
        "flat",
        "processor time in the bursts, the arrivals between them",
        "short statements leave no group stalled, so two groups keep two processors busy while the queue drains",
        f"{MEASURED}: cached reads flat from 8 to 256 connections",
    ),
    "connection_storms": Expectation(
        "flat",
        "processor time of the logins",
        "a login runs in a worker; its waits for the client are reported (NET), and its sections are short",
        f"{TOLD}: NET (sql/scheduler.cc sets the callbacks of vio)",
    ),
    "mostly_idle": Expectation(
        "flat",
        "the clients' pauses: 2,000 requests a second of a server that completes twenty times that",
        "every configuration completes what is offered",
        "a closed system with pauses below saturation has the throughput of its clients",
    ),
    "slow_readers": Expectation(
        "flat",
        "the readers' pace for the exports, processor time for the point selects",
        "a thread that waits for room in a socket tells the pool",
        f"{TOLD}: NET (sql/scheduler.cc, vio/viosocket.c)",
    ),
    "altered_table": Expectation(
        "abstain",
        "the copy of the table: its writers wait for it, and it takes a processor meanwhile",
        "what is seen ends with the ALTER TABLE, so no advice for the time after can be had from it",
        "sql/sql_table.cc: a copy holds off writers; THREAD_POOL_WAITS shows META_DATA_LOCK",
    ),
    "backup_locks": Expectation(
        "abstain",
        "the backup's locks: commits wait for BLOCK_COMMIT",
        "what is seen ends with the backup, so no advice for the time after can be had from it",
        "sql/backup.cc: BACKUP STAGE takes MDL_BACKUP locks; the waits are reported as META_DATA_LOCK",
    ),
    "locked_table": Expectation(
        "hold",
        "a lock of one table of four: whoever wants it waits, in the end everybody",
        "more threads pile up on the same lock, fewer starve the others; only the holder can end it",
        "sql/mdl.cc: the waits are reported (META_DATA_LOCK), so the pool needs no help",
    ),
    "eight_connections": Expectation(
        "hold",
        "processor time and the pool's own switches",
        "no pool is best at 4 connections a processor: a thread per connection completes 13 to 23 % more, which "
        "needs a restart; among configurations there is nothing to gain",
        "docs/results-mariadb.md, a thread per connection",
    ),
    "shifting": Expectation(
        "change",
        "in turns: groups held by scans, row locks, flushes",
        "over a whole cycle the third with scans decides: it is lost without more groups or a shorter stall limit, "
        "while the hot rows lose a fifth at most",
        "the three families that it consists of",
        pool_size="up",
        timer_interval_ms="down",
    ),
    "points_at_5": Expectation(
        "hold",
        "the clients' pauses: nineteen twentieths of the server idle",
        "nothing waits, so nothing is to be gained",
        BELOW,
    ),
    "orders_at_20": Expectation(
        "hold",
        "the clients' pauses: four fifths of the server idle",
        "nothing waits, so nothing is to be gained; row locks are short while few orders are inside",
        BELOW,
    ),
    "points_at_50": Expectation(
        "flat",
        "the clients' pauses: half of the server idles",
        "every configuration completes what is asked for; what waits is served within milliseconds, far below the "
        "targets",
        BELOW,
    ),
    "transactions_at_80": Expectation(
        "flat",
        "the clients' pauses, and processor time where several come at once",
        "every configuration completes what is asked for; short statements leave no group stalled",
        BELOW,
    ),
    "sleepers_at_20": Expectation(
        "hold",
        "the clients' pauses; hundreds of connections that send once in a minute cost no thread",
        "nothing waits, so nothing is to be gained; a connection that does not send is no work for its group",
        BELOW,
    ),
    "bursts_at_50": Expectation(
        "flat",
        "the arrivals: half of the capacity in a burst, a twentieth between",
        "every configuration completes what is offered, in a burst too; queues are short",
        "an open system below saturation has the throughput of its arrivals",
    ),
    "quiet_binlog": Expectation(
        "flat",
        "the clients' pauses; a commit waits for its flush, which is reported",
        "nothing but the flush is waited for, and no number of threads makes that shorter",
        f"{BELOW}; {TOLD}: GROUP_COMMIT and SYNC",
    ),
    "sleepers_from_disk": Expectation(
        "flat",
        "the clients' pauses; a point select waits for its page, which is reported",
        "nothing but the disk is waited for; connections that do not send are no work for their groups",
        f"{BELOW}; {TOLD}: DISKIO (buf0rea.cc)",
    ),
    "logins_in_bursts": Expectation(
        "flat",
        "the arrivals: at most half of the logins that the server completes, in a burst",
        "every configuration completes what is offered; a login runs in a worker and its sections are short",
        "an open system below saturation has the throughput of its arrivals",
    ),
}
"""By family, in no other order than the page's."""
