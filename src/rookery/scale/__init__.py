"""Many independent pieces of work, in this process, in others, or on a cluster.

A `Task` is an importable function with JSON arguments; its result is one JSON row under a key. A `Job` is a list of
tasks. It does them on an executor, which is named as `here`, `processes`, `processes:N`, `ray` or `ray:ADDRESS`, and
keeps every row in a file as it comes, so that the job can be stopped, resumed, and divided into shards. What a task
returns depends on its arguments alone, so the result does not depend on the executor, on order or on interruptions.

>>> tasks = [Task(str(n), "math:comb", {"args": [5, n]}) for n in range(3)]
>>> job = Job({"job": "binomial"}, tasks)
>>> dict(job.run("here"))
{'0': 1, '1': 5, '2': 10}
"""

from rookery.scale.executors import Background, carry_out, check_on
from rookery.scale.jobs import Job, merge, parse_shard
from rookery.scale.tasks import Needs, Task, TaskQueue, note

__all__ = ["Background", "Job", "Needs", "Task", "TaskQueue", "carry_out", "check_on", "merge", "note", "parse_shard"]
