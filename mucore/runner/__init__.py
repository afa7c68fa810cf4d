"""From what a person asks for to stored results. The modules, in reading order:

What is asked for
- `grid`: all combinations of scenarios, methods and seeds; its runs, and what a card refuses;
  `weight_files`: the files that it names
- `request`: the arguments of Python and of the command line, as a grid
- `plan`: what a grid means now: stored, missing, how long; `launch` queues what is missing
- `estimate`: time and memory that runs will take
- `preflight`: what is asked of a plan before this process works on it

Who computes it
- `local`: a plan computed here and now; `watch`: what a person sees of it meanwhile, and Ctrl-C
- `spawn`: how worker processes are started; `extra_workers`: some beside this one until it ends
- `worker`: takes jobs from the table, and computes them one after another
- `jobs`: one job from the claim to its end, whatever computes it; its log
- `heartbeat`: the thread that beats for a worker and its job
- `job_process`: a process that takes one job and is no worker; `analyses`: analyses as such jobs

One run
- `execute`: references first, method under the clock, predictions, metrics, record: start here
- `session`: what a process has in hand for runs, in three parts: `device_data` (data on the
  device), `models` (networks, loaded or made and stored), `forget_set` (the scenario, applied)
- `cache`: what the runs of a scenario share
- `training_records`: what some methods need of the original's training, loaded or made
- `method`: a method at work; `own_method`: a user's own, in a process of its own
- `child`: such a process, its environment and limits
- `evaluate`: what the metrics look at; `remeasure`: stored results measured again
"""
