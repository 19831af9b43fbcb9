package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"stillso"
	"stillso/internal/capture"
	"stillso/internal/mcp"
)

// mcpCmd offers the memory to assistants as tools.
type mcpCmd struct {
	Serve     mcpServeCmd     `cmd:"" default:"withargs" help:"Answer an assistant on standard input and output."`
	HTTP      mcpHTTPCmd      `cmd:"" name:"http" help:"Answer programs of this machine over HTTP, with a token."`
	Install   mcpInstallCmd   `cmd:"" help:"Register the server with assistants."`
	Uninstall mcpUninstallCmd `cmd:"" help:"Take the server out of assistants' settings."`
}

// Help shows examples.
func (mcpCmd) Help() string {
	return `A server of the Model Context Protocol with the tools recall, remember, search, retire
and why, for assistants that have no hooks, and beside the hook for those that have.

What an assistant saves is marked as inferred until a person confirms it. What a person
said is not taken away by an assistant: such a wish waits in stillso review, and so does
a statement that could do harm.

Examples:
  stillso mcp install cursor
  stillso mcp install
  stillso mcp`
}

type mcpServeCmd struct {
	Dir string `help:"Act as if in this directory; else the project that the assistant names, or where it runs." type:"existingdir"`
}

func (c *mcpServeCmd) run(ctx context.Context, a *app) (summary, error) {
	dir := c.Dir
	if project := a.std.env("CLAUDE_PROJECT_DIR"); dir == "" && filepath.IsAbs(project) {
		dir = project
	}
	log := slog.New(slog.NewTextHandler(a.std.err, &slog.HandlerOptions{Level: slog.LevelError}))
	server := mcp.New((&mcpDesk{app: a, dir: a.directory(dir)}).desk(), buildVersion().Version, log)
	err := server.Run(ctx, mcp.Stdio(a.std.in, a.std.out))
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		err = nil // the assistant ended, or ended us: that is how it goes
	}
	if err != nil {
		return nil, fmt.Errorf("the server ended: %w", err)
	}
	return nil, nil
}

// mcpDesk does what the tools ask for, each request as one command would: with a
// store of its own that is closed again, so that a server that runs all day holds
// nothing up.
type mcpDesk struct {
	app *app
	dir string
}

func (d *mcpDesk) desk() mcp.Desk {
	return mcp.Desk{
		Recall: d.recall, Remember: d.remember, Search: d.search, Retire: d.retire,
		Why: d.why, Profile: d.profile, Memory: d.memory, Clean: safeText,
	}
}

// visit runs one request.
func visit[T any](d *mcpDesk, f func(a *app) (T, error)) (T, error) {
	a := &app{std: d.app.std, homeFlag: d.app.homeFlag, dir: d.app.dir, json: true}
	out, err := f(a)
	if cerr := a.close(); err == nil {
		err = cerr
	}
	if hint := advice(err); err != nil && hint != "" && !strings.Contains(err.Error(), "stillso ") {
		err = fmt.Errorf("%w; %s", err, hint)
	}
	return out, err
}

func (d *mcpDesk) recall(ctx context.Context, prompt string) (mcp.Recalled, error) {
	return visit(d, func(a *app) (mcp.Recalled, error) {
		// No host: an assistant that asks wants what fits, wherever it stands.
		ask := recallCmd{Dir: d.dir}
		r, err := ask.ask(ctx, a, strings.ToValidUTF8(strings.TrimSpace(prompt), "\uFFFD"))
		if errors.Is(err, errNoStore) {
			return mcp.Recalled{Silence: "nothing was saved yet"}, nil
		}
		if err != nil {
			return mcp.Recalled{}, err
		}
		return mcp.Recalled{Block: r.Block, IDs: r.IDs, Silence: r.Silence}, nil
	})
}

func (d *mcpDesk) search(ctx context.Context, q mcp.Query) ([]stillso.Found, error) {
	return visit(d, func(a *app) ([]stillso.Found, error) {
		c := searchCmd{Query: []string{" " + q.Text}, Namespace: "project", Turns: q.Turns, Limit: atMost(q.Limit), Dir: d.dir}
		if q.Type != "" {
			c.Type = []string{q.Type}
		}
		sum, err := c.run(ctx, a)
		if errors.Is(err, errNoStore) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if s, ok := sum.(*searched); ok {
			return s.Found, nil
		}
		return nil, nil
	})
}

// here returns the memory with the id, or the only one whose id starts so, if it
// is one of this project or of the user: an assistant sees no other project's.
func (d *mcpDesk) here(ctx context.Context, a *app, id string) (*stillso.Memory, error) {
	none := &marked{class: stillso.ErrNotFound, text: fmt.Sprintf("no memory %q here: the tool search gives the ids", cut(oneLine(id), 40))}
	spaces, err := a.readNamespaces("project", d.dir)
	if err != nil {
		return nil, err
	}
	st, err := a.store(ctx)
	if errors.Is(err, errNoStore) {
		return nil, none
	}
	if err != nil {
		return nil, err
	}
	if id = strings.TrimSpace(id); len(id) < 4 {
		return nil, none
	}
	found, err := st.Memories(ctx, stillso.Filter{Namespaces: spaces, IDPrefix: id, Limit: 2})
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(found, func(m *stillso.Memory) bool { return m.ID == id }); i >= 0 {
		return found[i], nil
	}
	if len(found) != 1 {
		return nil, none
	}
	return found[0], nil
}

func (d *mcpDesk) memory(ctx context.Context, id string) (*stillso.Memory, error) {
	return visit(d, func(a *app) (*stillso.Memory, error) { return d.here(ctx, a, id) })
}

// trusted reports whether a person stands behind a memory, or a file does: then an
// assistant may not take it away.
func trusted(m *stillso.Memory) bool { return m.Origin != stillso.FromInferred }

func (d *mcpDesk) remember(ctx context.Context, n mcp.Statement) (mcp.Done, error) {
	return visit(d, func(a *app) (mcp.Done, error) { return d.save(ctx, a, n) })
}

func (d *mcpDesk) save(ctx context.Context, a *app, n mcp.Statement) (mcp.Done, error) {
	c := rememberCmd{Type: n.Type, Why: n.Why, Namespace: "project", Priority: 3, Dir: d.dir}
	if n.Everywhere {
		c.Namespace = string(stillso.UserNamespace)
	}
	m, _, err := c.memory(a, strings.ToValidUTF8(strings.TrimSpace(n.Content), "\uFFFD"))
	if err != nil {
		return mcp.Done{}, err
	}
	m.Origin = stillso.FromInferred
	if err := a.create(ctx); err != nil {
		return mcp.Done{}, err
	}
	known, err := a.sameWords(ctx, m.Namespace, m.Content)
	if err != nil {
		return mcp.Done{}, err
	}
	if known != nil && n.Supersedes == "" {
		return mcp.Done{Outcome: "unchanged", ID: known.ID, Text: "known already as " + known.ID + ": " + oneLine(known.Content)}, nil
	}
	change := a.change(stillso.VerbAdd, byAssistant, stillso.Edit{After: m})
	change.Reason = "an assistant asked for it"
	wait := ""
	if harm := capture.Danger(m.Content + "\n" + m.Why); harm != "" {
		wait = "it " + harm
	}
	if n.Supersedes != "" {
		old, err := d.here(ctx, a, n.Supersedes)
		if err != nil {
			return mcp.Done{}, err
		}
		after := old.Clone()
		after.State, after.SupersededBy, after.UpdatedAt = stillso.Superseded, m.ID, a.now()
		change.Verb = stillso.VerbSupersede
		change.Edits = append(change.Edits, stillso.Edit{Before: old, After: after})
		if trusted(old) && wait == "" {
			wait = "it takes the place of what the user stands for"
		}
	}
	return d.book(ctx, a, change, m, "saved", wait)
}

// byAssistant is the actor of what an assistant asks for.
var byAssistant = stillso.Actor{Kind: stillso.Model, Name: "mcp"}

// book applies a change, or proposes it to the user if there is a reason to wait.
func (d *mcpDesk) book(ctx context.Context, a *app, change stillso.Change, m *stillso.Memory, what, wait string) (mcp.Done, error) {
	change.Confidence = 0.5 // nobody measured it: an assistant says so
	if wait != "" {
		change.Outcome, change.Reason = stillso.Proposed, change.Reason+"; waits because "+wait
	}
	done, err := a.apply(ctx, change)
	if err != nil {
		return mcp.Done{}, err
	}
	id := done[0].ID
	if wait != "" {
		return mcp.Done{Outcome: "proposed", ID: m.ID, Change: id, Text: fmt.Sprintf(
			"not %s yet: it waits for the user, because %s. Tell the user: `stillso review approve %s` lets it in", what, wait, id)}, nil
	}
	return mcp.Done{Outcome: what, ID: m.ID, Change: id, Text: fmt.Sprintf("%s %s: %s\ntake it back: stillso undo %s", what, m.ID, oneLine(m.Content), id)}, nil
}

func (d *mcpDesk) retire(ctx context.Context, id, reason string) (mcp.Done, error) {
	return visit(d, func(a *app) (mcp.Done, error) {
		old, err := d.here(ctx, a, id)
		if err != nil {
			return mcp.Done{}, err
		}
		if old.State == stillso.Retired {
			return mcp.Done{Outcome: "unchanged", ID: old.ID, Text: old.ID + " is retired already"}, nil
		}
		after := old.Clone()
		after.State, after.UpdatedAt = stillso.Retired, a.now()
		change := a.change(stillso.VerbRetire, byAssistant, stillso.Edit{Before: old, After: after})
		change.Reason = "an assistant asked for it"
		if reason = cut(oneLine(reason), 500); reason != "" {
			change.Reason = reason
		}
		wait := ""
		if trusted(old) {
			wait = "the user stands for it"
		}
		return d.book(ctx, a, change, after, "retired", wait)
	})
}

func (d *mcpDesk) why(ctx context.Context, prompt string) (string, error) {
	return visit(d, func(a *app) (string, error) {
		var sum summary
		if prompt = strings.TrimSpace(prompt); prompt != "" {
			ask := recallCmd{Dir: d.dir}
			r, err := ask.ask(ctx, a, strings.ToValidUTF8(prompt, "\uFFFD"))
			if errors.Is(err, errNoStore) {
				return "silence: nothing was saved yet", nil
			}
			if err != nil {
				return "", err
			}
			sum = &reasons{Recall: r}
		} else {
			spaces, err := a.readNamespaces("project", d.dir)
			if err != nil {
				return "", err
			}
			last, err := a.lastReceipt(ctx, "")
			if err != nil {
				return "", err
			}
			if last == nil || !slices.Contains(spaces, last.Namespace) {
				return "the last recall was not in this project, or there was none: give a prompt to explain", nil
			}
			if sum, err = (&whyCmd{}).explain(ctx, a, last); err != nil {
				return "", err
			}
		}
		return asText(a, sum)
	})
}

// asText returns what a command would print.
func asText(a *app, sum summary) (string, error) {
	var b strings.Builder
	p := newPage(&b, a.std.env)
	sum.text(p)
	return b.String(), p.err
}

func (d *mcpDesk) profile(ctx context.Context) (string, error) {
	return visit(d, func(a *app) (string, error) {
		sum, err := (&profileShowCmd{Text: true, Dir: d.dir}).run(ctx, a)
		if errors.Is(err, errNoStore) {
			return "nothing was saved yet", nil
		}
		if err != nil {
			return "", err
		}
		return asText(a, sum)
	})
}
