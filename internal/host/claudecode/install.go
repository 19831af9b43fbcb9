package claudecode

import "stillso/internal/host"

// Program is the base name of our hook.
const Program = host.Program

// fileTools are the tools before which the memories of a file may be recalled.
const fileTools = "Read|Edit|Write|MultiEdit|NotebookEdit"

// hookTimeout is in seconds. Ours needs milliseconds; but without a timeout of
// its own SessionEnd is killed after 1.5 s (measured with 2.1.332).
const hookTimeout = 5

// Hooks returns the entries that register the hook program at an absolute path.
//
// They take the exec form, a program with args: no shell has to start, which
// costs more than our hook, and no quoting can break. Hosts before 2.1.139
// ignore args and run the command in a shell without them, where the hook takes
// the event from the document it reads. Only a path that a shell would take
// apart is written as a quoted line for a shell instead; on Windows never,
// since there the shell is not known.
func Hooks(program, goos string) []host.Hook {
	var list []host.Hook
	for _, e := range hookEvents {
		h := host.Hook{Event: e[1], Command: program, Args: []string{Name, e[0]}, Timeout: hookTimeout}
		if line := host.CommandLine(host.Posix, program, Name, e[0]); goos != "windows" && line[0] == '\'' {
			h.Command, h.Args = line, nil
		}
		if e[0] == host.PreTool {
			h.Matcher = fileTools
		}
		list = append(list, h)
	}
	return list
}
