//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// group is a process together with everything it starts.
type group struct{ cmd *exec.Cmd }

// newGroup makes the command the head of a process group of its own, which is
// killed as a whole when the command's context ends.
func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	g := &group{cmd}
	cmd.Cancel = func() error { return g.kill() }
	return g
}

func (g *group) started() {}

func (g *group) kill() error { return syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }

// end kills what the command left running.
func (g *group) end() {
	if g.cmd.Process != nil {
		_ = g.kill() // usually nobody is left
	}
}
