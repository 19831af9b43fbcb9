package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// Guards against a command or an option that the completions or the manual
// page leave out, and against hidden ones that they show.
func TestGeneratedKnowEveryCommand(t *testing.T) {
	k, err := newParser(&grammar{}, streams{})
	if err != nil {
		t.Fatal(err)
	}
	words := completions(k.Model.Node)
	texts := map[string]string{
		"bash": bashCompletion(words), "zsh": zshCompletion(words), "fish": fishCompletion(words),
		"man": strings.ReplaceAll(manual(k.Model, &versions{Version: "1.2.3", Date: "2026-01-02T03:04:05Z"}), `\-`, "-"),
	}
	for shell, text := range texts {
		for _, n := range k.Model.Leaves(true) {
			if !strings.Contains(text, n.FullPath()) {
				t.Errorf("%s: %s is missing", shell, n.FullPath())
			}
			for _, f := range n.Flags {
				flag := "--" + f.Name
				if shell == "fish" {
					flag = "-l " + f.Name
				}
				if !f.Hidden && !strings.Contains(text, flag) {
					t.Errorf("%s: %s of %s is missing", shell, flag, n.FullPath())
				}
			}
		}
		if strings.Contains(text, "stillso completion\n") || strings.Contains(text, "completion <shell>") {
			t.Errorf("%s shows a hidden command", shell)
		}
	}
	if want := `.TH STILLSO 1 "2026-01-02" "stillso 1.2.3"`; !strings.HasPrefix(texts["man"], want) {
		t.Errorf("the manual page begins with %.60q, not %q", texts["man"], want)
	}
}

// hostile is a grammar whose help texts would run or end a quotation.
type hostile struct {
	Go struct {
		Flag string `help:"'; touch /tmp/x; echo ' $(id): \\ x."`
	} `cmd:"" help:".so /etc/passwd: it's $(id)."`
}

// Guards against help texts that break out of their quotes, or that are
// requests of roff.
func TestGeneratedQuote(t *testing.T) {
	k, err := kong.New(&hostile{}, kong.Name("stillso"))
	if err != nil {
		t.Fatal(err)
	}
	words := completions(k.Model.Node)
	for shell, want := range map[string]string{
		zshCompletion(words):  `'go:.so /etc/passwd\: it'"'"'s $(id)'`,
		fishCompletion(words): `-d '\'; touch /tmp/x; echo \' $(id): \\ x'`,
	} {
		if !strings.Contains(shell, want) {
			t.Errorf("not quoted as %s:\n%s", want, shell)
		}
	}
	for _, c := range [][2]string{{".so x", `\&.so x`}, {"'x", `\&'x`}, {"a\n.so x", "a\n\\&.so x"}, {`\fB-x`, `\efB\-x`}} {
		if got := roff(c[0]); got != c[1] {
			t.Errorf("roff(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}

// Guards against completions that a shell cannot read, or that do not follow
// the words before the cursor.
func TestShellsComplete(t *testing.T) {
	k, err := newParser(&grammar{}, streams{})
	if err != nil {
		t.Fatal(err)
	}
	words := completions(k.Model.Node)
	bash := bashCompletion(words) + "\nt() { COMP_WORDS=(\"$@\") COMP_CWORD=$(($#-1)) COMPREPLY=(); _stillso; echo \"${COMPREPLY[*]}\"; }\n"
	fish := fishCompletion(words) + "\n"
	for _, c := range []struct{ shell, script, want string }{
		{"bash", bash + "t stillso rem", "remember\n"},
		{"bash", bash + "t stillso review ap", "approve\n"},
		{"bash", bash + "t stillso --home /x remember --ta", "--tag\n"},
		{"bash", bash + "t stillso remember --name r", "\n"},
		{"fish", fish + "complete -C 'stillso review ap' | cut -f1", "approve\n"},
		{"fish", fish + "complete -C 'stillso remember --ta' | cut -f1", "--tag\n"},
		{"zsh", "compdef() { }; words=(stillso review ap); CURRENT=3; _describe() { print ${names%%:*} }\n" + zshCompletion(words) + "\n_stillso", "list show approve refuse\n"},
	} {
		exe, err := exec.LookPath(c.shell)
		if err != nil {
			t.Logf("%s is not on this machine: its completion is not tried", c.shell)
			continue
		}
		out, err := exec.Command(exe, "-c", c.script).CombinedOutput()
		if err != nil || string(out) != c.want {
			t.Errorf("%s: …%s\n got %q (%v)\nwant %q", c.shell, c.script[len(c.script)-40:], out, err, c.want)
		}
	}
}
