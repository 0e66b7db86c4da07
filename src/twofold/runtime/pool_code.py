"""The thread pool's native code, as LLVM text for x86-64 Linux (glibc).

A launch is a *job*: `kernel(args, chunk)` for each chunk. Its chunks are dealt out as contiguous ranges, one *queue* for each thread that
can take part, so that a chain of launches finds its data in the same core's cache; a thread whose own queue is empty takes from the
others'. The thread that launches is number 0 and works too; workers are 1, 2, …. All state is in the module's variables: there is one
pool.

- `@lock` is tried, never waited for: who does not get it runs its chunks alone. Only its holder makes a job, starts workers or ends them.
- A queue counts the chunks that nobody has taken yet down to zero. A decrement that finds a positive count takes a chunk, and *pins* the
  job: it cannot end before that chunk is counted in `@unfinished`, so the job's fields may be read. One that finds zero or less means
  nothing: a worker may come late, when the job is over, and the next job overwrites the count.
- The launcher waits for chunks, not for workers: a worker that is slow to wake up holds nothing up.
- Words that threads wait for: `@generation` (it counts jobs) and `@unfinished`. A waiter spins, then adds itself to a count of sleepers
  and calls futex(2), which compares the word once more. A waker changes the word, then reads the count. Both are sequentially consistent,
  so one of the two sees the other.
"""

from __future__ import annotations

from string import Template

from twofold.runtime import context_code

MAX_THREADS = 1024
STACK_BYTES = 2 << 20
TOO_FEW = "the system refuses to start another thread (pthread_create): programs run on fewer threads than were asked for"

_CONSTANTS = {
    **context_code.CONSTANTS,
    "MAX_THREADS": MAX_THREADS, "STACK_BYTES": STACK_BYTES,
    "TOO_FEW": TOO_FEW, "TOO_FEW_BYTES": len(TOO_FEW) + 1,
    "PAUSES": 32,  # looks at a word between two of the clock: about 1.5 µs
    "FUTEX": 202, "FUTEX_WAIT_PRIVATE": 128, "FUTEX_WAKE_PRIVATE": 129, "ALL": (1 << 31) - 1,
    "CLOCK_MONOTONIC": 1, "SIG_SETMASK": 2,
    "SIGSET_BYTES": 128, "ATTR_BYTES": 64,  # sizeof(sigset_t), sizeof(pthread_attr_t) rounded up
}  # fmt: skip

_STATE = """
declare i64 @syscall(i64, ...)
declare i32 @clock_gettime(i32, ptr)
declare i64 @pthread_self()
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i32 @sigdelset(ptr, i32)
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare i32 @PyErr_WarnEx(ptr, ptr, i64)
declare void @llvm.x86.sse2.pause()
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

@PyExc_RuntimeWarning = external global ptr
@too_few = private constant [$TOO_FEW_BYTES x i8] c"$TOO_FEW\\00"

%Queue = type { i64, i64, i64, i32, [36 x i8] }  ; chunks not taken; end of its range; the worker: pthread_t, generation at its start

; each on a cache line of its own, the job's fields on one
@threads = internal global i32 1, align 64       ; wanted, with the thread that launches
@spin_ns = internal global i64 0, align 64       ; how long to spin before sleeping
@main_thread = internal global i64 0, align 64   ; pthread_t of Python's main thread
@forks = internal global i64 0, align 64         ; how often this process came out of a fork
@lock = internal global i32 0, align 64
@workers = internal global i64 0, align 64       ; threads that exist
@limit = internal global i64 0, align 64         ; a worker with a number above this ends
@generation = internal global i32 0, align 64
@sleepers = internal global i32 0, align 64      ; workers asleep
@unfinished = internal global i64 0, align 64    ; chunks of the job that have not been run
@waiting = internal global i32 0, align 64       ; whether the launcher is asleep
%Job = type { ptr, ptr, i64, i32 }               ; kernel, args, number of queues, the launcher's floating-point control word
@job = internal global %Job { ptr null, ptr null, i64 1, i32 8064 }, align 64
@queues = internal global [$MAX_THREADS x %Queue] zeroinitializer, align 64
"""

_WAITING = """
define internal i64 @clock(i32 %which) nounwind {
  %time = alloca { i64, i64 }, align 8
  %failed = call i32 @clock_gettime(i32 %which, ptr %time)
  %seconds = load i64, ptr %time, align 8
  %rest = getelementptr i8, ptr %time, i64 8
  %nanoseconds = load i64, ptr %rest, align 8
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %nanoseconds
  ret i64 %sum
}

; Whether the word changed from %value within $PAUSES looks at it.
define internal i1 @spin(ptr %word, i32 %value) nounwind {
entry:
  br label %look
look:
  %count = phi i32 [ 0, %entry ], [ %next, %pause ]
  %seen = load atomic i32, ptr %word acquire, align 4
  %changed = icmp ne i32 %seen, %value
  br i1 %changed, label %yes, label %pause
pause:
  call void @llvm.x86.sse2.pause()
  %next = add nuw nsw i32 %count, 1
  %more = icmp ult i32 %next, $PAUSES
  br i1 %more, label %look, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; Returns when the word may have changed from %value. Spins for a while, then sleeps, counted in %sleepers.
define internal void @await_change(ptr %word, i32 %value, ptr %sleepers) nounwind {
entry:
  %changed_at_once = call i1 @spin(ptr %word, i32 %value)
  br i1 %changed_at_once, label %done, label %timed
timed:
  %begin = call i64 @clock(i32 $CLOCK_MONOTONIC)
  %spin_ns = load atomic i64, ptr @spin_ns monotonic, align 64
  %until = add i64 %begin, %spin_ns
  br label %check
check:
  %now = phi i64 [ %begin, %timed ], [ %later, %again ]
  %over = icmp sge i64 %now, %until
  br i1 %over, label %sleep, label %again
again:
  %changed = call i1 @spin(ptr %word, i32 %value)
  %later = call i64 @clock(i32 $CLOCK_MONOTONIC)
  br i1 %changed, label %done, label %check
sleep:
  %before = atomicrmw add ptr %sleepers, i32 1 seq_cst
  %wide = zext i32 %value to i64
  %woken = call i64 (i64, ...) @syscall(i64 $FUTEX, ptr %word, i64 $FUTEX_WAIT_PRIVATE, i64 %wide, ptr null, ptr null, i64 0)
  %after = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  br label %done
done:
  ret void
}

; To be called after the word was changed: wakes up to %most of those who sleep.
define internal void @wake(ptr %word, ptr %sleepers, i64 %most) nounwind {
  %asleep = load atomic i32, ptr %sleepers seq_cst, align 64
  %nobody = icmp eq i32 %asleep, 0
  br i1 %nobody, label %done, label %call
call:
  %woken = call i64 (i64, ...) @syscall(i64 $FUTEX, ptr %word, i64 $FUTEX_WAKE_PRIVATE, i64 %most, ptr null, ptr null, i64 0)
  br label %done
done:
  ret void
}
"""

_WORK = """
; Counts chunks as run; who counts the last one wakes the launcher.
define internal void @finish(i64 %chunks) nounwind {
  %before = atomicrmw sub ptr @unfinished, i64 %chunks seq_cst
  %last = icmp eq i64 %before, %chunks
  br i1 %last, label %end, label %done
end:
  call void @wake(ptr @unfinished, ptr @waiting, i64 1)
  br label %done
done:
  ret void
}

; Empties the job's queues; the number of chunks that were in them.
define internal i64 @cancel() nounwind {
entry:
  %parts = load i64, ptr getelementptr (%Job, ptr @job, i32 0, i32 2), align 8
  br label %queue
queue:
  %k = phi i64 [ 0, %entry ], [ %next, %queue ]
  %sum = phi i64 [ 0, %entry ], [ %total, %queue ]
  %count = getelementptr %Queue, ptr @queues, i64 %k, i32 0
  %left = atomicrmw xchg ptr %count, i64 0 acq_rel
  %some = call i64 @llvm.smax.i64(i64 %left, i64 0)
  %total = add i64 %sum, %some
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %parts
  br i1 %more, label %queue, label %done
done:
  ret i64 %total
}

; Runs chunks until none is left to take, those of queue %self first. %context is null in a worker; the launcher looks at signals between
; chunks, and returns $STOPPED or $FORKED if that ends the launch.
define internal i32 @work(i64 %self, ptr %context) nounwind {
entry:
  %is_worker = icmp eq ptr %context, null
  %parts = load atomic i64, ptr getelementptr (%Job, ptr @job, i32 0, i32 2) monotonic, align 8
  br label %queue
queue:
  %k = phi i64 [ 0, %entry ], [ %next, %next_queue ]
  %run_before = phi i64 [ 0, %entry ], [ %run, %next_queue ]
  %turn = add i64 %self, %k
  %number = urem i64 %turn, %parts
  %count = getelementptr %Queue, ptr @queues, i64 %number, i32 0
  %end = getelementptr %Queue, ptr @queues, i64 %number, i32 1
  br label %look
look:
  %run = phi i64 [ %run_before, %queue ], [ %run_next, %chunk ]
  %seen = load atomic i64, ptr %count acquire, align 64
  %some = icmp sgt i64 %seen, 0
  br i1 %some, label %take, label %next_queue
take:
  %left = atomicrmw sub ptr %count, i64 1 acq_rel
  %taken = icmp sgt i64 %left, 0
  br i1 %taken, label %pinned, label %next_queue
pinned:
  %run_next = add i64 %run, 1
  br i1 %is_worker, label %adopt, label %ask
adopt:
  call void @llvm.x86.sse.ldmxcsr(ptr getelementptr (%Job, ptr @job, i32 0, i32 3))
  br label %chunk
ask:
  %status = call i32 @signals(ptr %context)
  %go_on = icmp eq i32 %status, 0
  br i1 %go_on, label %chunk, label %stop
chunk:
  %last = load i64, ptr %end, align 8
  %index = sub i64 %last, %left
  %kernel = load ptr, ptr @job, align 8
  %args = load ptr, ptr getelementptr (%Job, ptr @job, i32 0, i32 1), align 8
  call void %kernel(ptr %args, i64 %index)
  br label %look
next_queue:
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %parts
  br i1 %more, label %queue, label %report
report:
  %none = icmp eq i64 %run, 0
  br i1 %none, label %done, label %finish
finish:
  call void @finish(i64 %run)
  br label %done
done:
  ret i32 0
stop:
  %forked = icmp eq i32 %status, $FORKED
  br i1 %forked, label %leave, label %cancel
cancel:
  %cancelled = call i64 @cancel()
  %accounted = add i64 %cancelled, %run_next
  call void @finish(i64 %accounted)
  br label %leave
leave:
  ret i32 %status
}

define internal ptr @worker(ptr %argument) nounwind {
entry:
  %self = ptrtoint ptr %argument to i64
  %start = getelementptr %Queue, ptr @queues, i64 %self, i32 3
  %born = load i32, ptr %start, align 8
  br label %idle
idle:
  %seen = phi i32 [ %born, %entry ], [ %seen, %idle ], [ %now, %busy ]
  call void @await_change(ptr @generation, i32 %seen, ptr @sleepers)
  %now = load atomic i32, ptr @generation seq_cst, align 64
  %same = icmp eq i32 %now, %seen
  br i1 %same, label %idle, label %new
new:
  %limit = load atomic i64, ptr @limit acquire, align 64
  %surplus = icmp ugt i64 %self, %limit
  br i1 %surplus, label %leave, label %busy
busy:
  %status = call i32 @work(i64 %self, ptr null)
  br label %idle
leave:
  ret ptr null
}
"""

_WORKERS = """
; Starts workers %have + 1 to %wanted, as far as the system lets it. The lock is held. They block all signals but those of their own faults.
define internal i32 @start_workers(i64 %have, i64 %wanted) noinline nounwind {
entry:
  %blocked = alloca [$SIGSET_BYTES x i8], align 16
  %mask = alloca [$SIGSET_BYTES x i8], align 16
  %attributes = alloca [$ATTR_BYTES x i8], align 16
  %r1 = call i32 @sigfillset(ptr %blocked)
  %r2 = call i32 @sigdelset(ptr %blocked, i32 4)   ; SIGILL
  %r3 = call i32 @sigdelset(ptr %blocked, i32 6)   ; SIGABRT
  %r4 = call i32 @sigdelset(ptr %blocked, i32 7)   ; SIGBUS
  %r5 = call i32 @sigdelset(ptr %blocked, i32 8)   ; SIGFPE
  %r6 = call i32 @sigdelset(ptr %blocked, i32 11)  ; SIGSEGV
  %r7 = call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %blocked, ptr %mask)
  %r8 = call i32 @pthread_attr_init(ptr %attributes)
  %r9 = call i32 @pthread_attr_setstacksize(ptr %attributes, i64 $STACK_BYTES)
  store atomic i64 %wanted, ptr @limit release, align 64
  br label %next
next:
  %last = phi i64 [ %have, %entry ], [ %number, %started ]
  %enough = icmp uge i64 %last, %wanted
  br i1 %enough, label %done, label %create
create:
  %number = add i64 %last, 1
  %thread = getelementptr %Queue, ptr @queues, i64 %number, i32 2
  %start = getelementptr %Queue, ptr @queues, i64 %number, i32 3
  %generation = load atomic i32, ptr @generation monotonic, align 64
  store i32 %generation, ptr %start, align 8
  %argument = inttoptr i64 %number to ptr
  %error = call i32 @pthread_create(ptr %thread, ptr %attributes, ptr @worker, ptr %argument)
  %failed = icmp ne i32 %error, 0
  br i1 %failed, label %done, label %started
started:
  store atomic i64 %number, ptr @workers release, align 64
  br label %next
done:
  %result = phi i32 [ 0, %next ], [ %error, %create ]
  %r10 = call i32 @pthread_attr_destroy(ptr %attributes)
  %r11 = call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %mask, ptr null)
  ret i32 %result
}

; Ends workers %wanted + 1 to %have and waits for it. The lock is held: they have nothing to do.
define internal void @end_workers(i64 %have, i64 %wanted) noinline nounwind {
entry:
  store atomic i64 %wanted, ptr @limit seq_cst, align 64
  %before = atomicrmw add ptr @generation, i32 1 seq_cst
  call void @wake(ptr @generation, ptr @sleepers, i64 $ALL)
  br label %next
next:
  %number = phi i64 [ %have, %entry ], [ %below, %next ]
  %place = getelementptr %Queue, ptr @queues, i64 %number, i32 2
  %thread = load i64, ptr %place, align 8
  %joined = call i32 @pthread_join(i64 %thread, ptr null)
  %below = sub i64 %number, 1
  %more = icmp ugt i64 %below, %wanted
  br i1 %more, label %next, label %done
done:
  store atomic i64 %wanted, ptr @workers release, align 64
  ret void
}

; Says that there are fewer threads than wanted, and gives up wanting them: $STOPPED if warnings are errors.
define internal i32 @warn_of_missing_threads(ptr %context, i64 %workers) noinline nounwind {
  %few = trunc i64 %workers to i32
  %threads = add i32 %few, 1
  store atomic i32 %threads, ptr @threads release, align 64
  %gil = call i32 @PyGILState_Ensure()
  %category = load ptr, ptr @PyExc_RuntimeWarning, align 8
  %raised = call i32 @PyErr_WarnEx(ptr %category, ptr @too_few, i64 1)
  %fine = icmp eq i32 %raised, 0
  br i1 %fine, label %release, label %keep
keep:
  call void @keep_exception(ptr %context)
  br label %release
release:
  call void @PyGILState_Release(i32 %gil)
  %status = select i1 %fine, i32 0, i32 $STOPPED
  ret i32 %status
}

; Makes the number of workers what `@threads` says. The lock is held.
define internal i32 @adjust(ptr %context) noinline nounwind {
  %threads = load atomic i32, ptr @threads acquire, align 64
  %others = sub i32 %threads, 1
  %wanted = zext i32 %others to i64
  %have = load atomic i64, ptr @workers monotonic, align 64
  %surplus = icmp ugt i64 %have, %wanted
  br i1 %surplus, label %end, label %start
end:
  call void @end_workers(i64 %have, i64 %wanted)
  ret i32 0
start:
  %error = call i32 @start_workers(i64 %have, i64 %wanted)
  %fine = icmp eq i32 %error, 0
  br i1 %fine, label %done, label %warn
done:
  ret i32 0
warn:
  %workers = load atomic i64, ptr @workers monotonic, align 64
  %status = call i32 @warn_of_missing_threads(ptr %context, i64 %workers)
  ret i32 %status
}
"""

_LAUNCH = """
define internal i32 @run_alone(ptr %context, ptr %kernel, ptr %args, i64 %chunks) nounwind {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %chunks
  br i1 %more, label %ask, label %done
ask:
  %status = call i32 @signals(ptr %context)
  %stopped = icmp eq i32 %status, $STOPPED
  br i1 %stopped, label %stop, label %body
body:
  call void %kernel(ptr %args, i64 %i)
  %next = add nuw nsw i64 %i, 1
  br label %head
done:
  ret i32 0
stop:
  ret i32 $STOPPED
}

; Makes the job known: after this, workers run it.
define internal void @publish(ptr %kernel, ptr %args, i64 %chunks, i64 %parts) nounwind {
entry:
  store ptr %kernel, ptr @job, align 64
  store ptr %args, ptr getelementptr (%Job, ptr @job, i32 0, i32 1), align 8
  store atomic i64 %parts, ptr getelementptr (%Job, ptr @job, i32 0, i32 2) monotonic, align 8
  call void @llvm.x86.sse.stmxcsr(ptr getelementptr (%Job, ptr @job, i32 0, i32 3))
  store atomic i64 %chunks, ptr @unfinished release, align 64
  %each = udiv i64 %chunks, %parts
  %over = urem i64 %chunks, %parts
  br label %deal
deal:
  %k = phi i64 [ 0, %entry ], [ %next, %deal ]
  %begin = phi i64 [ 0, %entry ], [ %end, %deal ]
  %larger = icmp ult i64 %k, %over
  %one = zext i1 %larger to i64
  %size = add i64 %each, %one
  %end = add i64 %begin, %size
  %end_place = getelementptr %Queue, ptr @queues, i64 %k, i32 1
  store i64 %end, ptr %end_place, align 8
  %count = getelementptr %Queue, ptr @queues, i64 %k, i32 0
  store atomic i64 %size, ptr %count release, align 64
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %parts
  br i1 %more, label %deal, label %call
call:
  %before = atomicrmw add ptr @generation, i32 1 seq_cst
  %others = sub i64 %parts, 1
  call void @wake(ptr @generation, ptr @sleepers, i64 %others)
  ret void
}

; The context's launch: runs all chunks and returns 0, or stops between chunks and returns $STOPPED or $FORKED.
define i32 @launch(ptr %context, ptr %kernel, ptr %args, i64 %chunks) nounwind {
entry:
  %threads = load atomic i32, ptr @threads monotonic, align 64
  %workers_before = load atomic i64, ptr @workers monotonic, align 64
  %others = trunc i64 %workers_before to i32
  %there = add i32 %others, 1
  %most_threads = call i32 @llvm.smax.i32(i32 %threads, i32 %there)
  %several_threads = icmp sgt i32 %most_threads, 1
  %several_chunks = icmp sgt i64 %chunks, 1
  %parallel = and i1 %several_threads, %several_chunks
  br i1 %parallel, label %try, label %alone
try:
  %exchange = cmpxchg ptr @lock, i32 0, i32 1 acquire monotonic
  %locked = extractvalue { i32, i1 } %exchange, 1
  br i1 %locked, label %compare, label %alone
alone:
  %status_alone = call i32 @run_alone(ptr %context, ptr %kernel, ptr %args, i64 %chunks)
  ret i32 %status_alone
compare:
  %settled = icmp eq i32 %there, %threads
  br i1 %settled, label %start, label %adjust
adjust:
  %refused = call i32 @adjust(ptr %context)
  %adjusted = icmp eq i32 %refused, 0
  br i1 %adjusted, label %start, label %unlock
start:
  %workers = load atomic i64, ptr @workers monotonic, align 64
  %hands = add i64 %workers, 1
  %parts = call i64 @llvm.smin.i64(i64 %hands, i64 %chunks)
  call void @publish(ptr %kernel, ptr %args, i64 %chunks, i64 %parts)
  %status = call i32 @work(i64 0, ptr %context)
  %forked = icmp eq i32 %status, $FORKED
  br i1 %forked, label %leave, label %wait
wait:
  %left = load atomic i64, ptr @unfinished seq_cst, align 64
  %over = icmp eq i64 %left, 0
  br i1 %over, label %unlock, label %sleep
sleep:
  %word = trunc i64 %left to i32
  call void @await_change(ptr @unfinished, i32 %word, ptr @waiting)
  br label %wait
unlock:
  %result = phi i32 [ %refused, %adjust ], [ %status, %wait ]
  store atomic i32 0, ptr @lock release, align 64
  ret i32 %result
leave:
  ret i32 %status
}
"""

_CONTROL = """
; From now on launches use %threads threads; those that are too many end now, or at the next launch if one is going on.
define void @set_threads(i32 %threads, i64 %spin_ns) nounwind {
  store atomic i32 %threads, ptr @threads seq_cst, align 64
  store atomic i64 %spin_ns, ptr @spin_ns monotonic, align 64
  %exchange = cmpxchg ptr @lock, i32 0, i32 1 acquire monotonic
  %locked = extractvalue { i32, i1 } %exchange, 1
  br i1 %locked, label %compare, label %done
compare:
  %wanted_now = load atomic i32, ptr @threads seq_cst, align 64  ; another thread may have set it meanwhile
  %others = sub i32 %wanted_now, 1
  %wanted = zext i32 %others to i64
  %have = load atomic i64, ptr @workers monotonic, align 64
  %surplus = icmp ugt i64 %have, %wanted
  br i1 %surplus, label %end, label %unlock
end:
  call void @end_workers(i64 %have, i64 %wanted)
  br label %unlock
unlock:
  store atomic i32 0, ptr @lock release, align 64
  br label %done
done:
  ret void
}

define i64 @count_workers() nounwind {
  %workers = load atomic i64, ptr @workers acquire, align 64
  ret i64 %workers
}

; How many threads launches use: fewer than were set where the system refused to start some.
define i32 @count_threads() nounwind {
  %threads = load atomic i32, ptr @threads acquire, align 64
  ret i32 %threads
}

define void @set_main_thread(i64 %thread) nounwind {
  store atomic i64 %thread, ptr @main_thread release, align 64
  ret void
}

; In the child of a fork, which has the calling thread only: no workers, no job, nobody who holds the lock or sleeps.
define void @after_fork(i64 %thread) nounwind {
entry:
  store atomic i64 %thread, ptr @main_thread release, align 64
  %forks = load i64, ptr @forks, align 64
  %more_forks = add i64 %forks, 1
  store i64 %more_forks, ptr @forks, align 64
  store i64 0, ptr @workers, align 64
  store i64 0, ptr @limit, align 64
  store i32 0, ptr @sleepers, align 64
  store i32 0, ptr @waiting, align 64
  store i64 0, ptr @unfinished, align 64
  br label %queue
queue:
  %k = phi i64 [ 0, %entry ], [ %next, %queue ]
  %count = getelementptr %Queue, ptr @queues, i64 %k, i32 0
  store atomic i64 0, ptr %count monotonic, align 64
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, $MAX_THREADS
  br i1 %more, label %queue, label %done
done:
  store atomic i32 0, ptr @lock release, align 64
  ret void
}
"""

POOL = Template(_STATE + _WAITING + context_code.TEXT + _WORK + _WORKERS + _LAUNCH + _CONTROL).substitute(_CONSTANTS)
"""The module. It exports launch, poll, host_step (functions of a context), set_threads, count_threads, count_workers,
set_main_thread and after_fork."""
