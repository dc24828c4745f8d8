/**
 * The shell program that leads the process group of one MCP server.
 *
 * Holds: the group ends with the server, and with the agent, whatever takes that.
 *
 * @module
 */
import { type Leader } from '../programs/process-group.ts'

/**
 * The command is the first argument. A watcher reads a channel that the agent holds open (descriptor 3) and kills the
 * group when the agent is gone. A signal that is caught, not ignored, has its default effect in the command. When that
 * has ended, its status is reported on the channel, the watcher is reaped, and whatever the server left behind is killed
 * together with the leader.
 */
const SCRIPT = `
trap : HUP INT TERM
trap "" PIPE
(trap "" HUP INT TERM; read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 &
set -- "$1" "$!"
(trap - PIPE; exec /bin/sh -c "$1") 3<&-
set -- "$?" "$2"
exec </dev/null >/dev/null 2>&1
echo "$1" >&3
kill -KILL "$2"
wait "$2"
kill -KILL 0
`

export const SERVER_LEADER: Leader = { name: 'ct-agent-mcp-server', script: SCRIPT }
