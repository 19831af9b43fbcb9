package cli

import (
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a process together with everything it starts, held by a job object.
type group struct {
	cmd *exec.Cmd
	job windows.Handle
}

// newGroup makes a job that ends its processes when it is closed.
func newGroup(cmd *exec.Cmd) *group {
	g := &group{cmd: cmd}
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	cmd.Cancel = func() error {
		if g.job != 0 {
			_ = windows.TerminateJobObject(g.job, 1) // what it leaves is killed next
		}
		return cmd.Process.Kill()
	}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g // without a job the process itself is still killed
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

// started puts the process into the job. What it started in the instant before
// escapes; no program of ours starts others that early.
func (g *group) started() {
	if g.job == 0 {
		return
	}
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.cmd.Process.Pid))
	if err != nil {
		return
	}
	defer windows.CloseHandle(p) //nolint:errcheck // nothing can be done about it
	_ = windows.AssignProcessToJobObject(g.job, p)
}

// end closes the job, and so ends what the command left running.
func (g *group) end() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}
