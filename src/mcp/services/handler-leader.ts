/**
 * The shell program that leads the process group of one handler run.
 *
 * It starts a watcher, which reads a channel that the agent holds open (descriptor 3) and kills the group when the
 * agent is gone; runs the command; has its status reported on that channel; and takes over from the watcher. So the
 * group is watched, and its number is taken, until the agent kills it.
 *
 * Node connects a child by sockets, and Linux refuses to open those as `/dev/stdin`, `/dev/stdout` and `/dev/stderr`,
 * as many scripts do. The three `cat` give the command pipes. They also keep the sockets out of its hands, so that
 * the agent sees the end of the output once the group is dead, whoever still holds the pipes.
 *
 * @module
 */
import { type Leader } from '../programs/process-group.ts'

/**
 * The command is the first argument, never part of this text. Only positional parameters are assigned: a variable of
 * any name could be one that is exported to the command. All but the command live through a TERM to the group; a
 * signal that is caught, not ignored, has its default effect in the command.
 *
 * Two lines are reported: the exit status, and `over` when everybody but the leader has been reaped. An agent that is
 * process 1 of a container has nobody to reap them after the group is killed. The first line is missing when the shell
 * that reports it was killed.
 */
const SCRIPT = `
trap "" HUP INT TERM
(read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 &
set -- "$1" "$!"
cat 3<&- | {
  {
    {
      trap : HUP INT TERM
      /bin/sh -c "$1" 3<&- 4>&-
      echo "$?" >&3
    } 2>&1 >&4 4>&- | cat >&2 3<&- 4>&-
  } 4>&1 | cat 3<&-
}
exec </dev/null >/dev/null 2>&1
trap "" PIPE
kill -KILL "$2"
wait "$2"
echo over >&3
read -r _ <&3
kill -KILL 0
`

export const HANDLER_LEADER: Leader = { name: 'ct-agent-handler', script: SCRIPT }
