package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// dependency is one line of a manifest. Range is the version as it stands there.
type dependency struct{ name, version, manifest string }

// manifests are what a project's manifests list.
type manifests struct {
	all []dependency
	// files counts those that were read; whole is false where one could not be.
	files int
	whole bool
}

// maxManifests bounds how many manifests of a repository are read.
const maxManifests = 200

func (l *look) dependencies(ctx context.Context) *manifests {
	l.depsOnce.Do(func() {
		x := l.listed(ctx)
		l.deps.whole = x.whole
		for base, read := range manifestReaders() {
			for _, p := range x.byBase[base] {
				l.manifest(p, read)
			}
		}
		for base, list := range x.byBase {
			if ok, _ := path.Match("requirements*.txt", base); ok { // the pattern is ours
				for _, p := range list {
					l.manifest(p, readRequirements)
				}
			}
		}
	})
	return &l.deps
}

func (l *look) manifest(p string, read func(string) ([]dependency, bool)) {
	if l.deps.files++; l.deps.files > maxManifests {
		l.deps.whole = false
		return
	}
	text, err := l.readAll(p, maxRead)
	list, ok := []dependency(nil), false
	if err == nil {
		list, ok = read(text)
	}
	l.deps.whole = l.deps.whole && ok
	for _, d := range list {
		d.manifest = p
		l.deps.all = append(l.deps.all, d)
	}
}

func manifestReaders() map[string]func(string) ([]dependency, bool) {
	return map[string]func(string) ([]dependency, bool){
		"go.mod": readGoMod, "package.json": readPackageJSON, "pyproject.toml": readPyproject, "Cargo.toml": readCargo,
	}
}

// readGoMod reads the require directives, and the toolchain's version as go.
func readGoMod(text string) ([]dependency, bool) {
	var out []dependency
	block := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == ")":
			block = ""
		case len(f) == 2 && f[1] == "(":
			block = f[0]
		case len(f) == 3 && f[0] == "require":
			out = append(out, dependency{name: f[1], version: f[2]})
		case block == "require" && len(f) == 2:
			out = append(out, dependency{name: f[0], version: f[1]})
		case len(f) == 2 && f[0] == "go":
			out = append(out, dependency{name: "go", version: f[1]})
		}
	}
	return out, true
}

func readPackageJSON(text string) ([]dependency, bool) {
	var doc map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &doc) != nil {
		return nil, false
	}
	var out []dependency
	for _, table := range []string{"dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "engines"} {
		var list map[string]string
		if json.Unmarshal(doc[table], &list) != nil {
			continue
		}
		for name, v := range list {
			out = append(out, dependency{name: name, version: v})
		}
	}
	return out, true
}

// readRequirements reads pip's format; a file that includes another is not whole.
func readRequirements(text string) ([]dependency, bool) {
	var out []dependency
	whole := true
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		line, _, _ = strings.Cut(line, ";")
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "-") {
			whole = whole && !strings.HasPrefix(line, "-r") && !strings.HasPrefix(line, "--requirement")
			continue
		}
		if d, ok := requirement(line); ok {
			out = append(out, d)
		}
	}
	return out, whole
}

// requirement reads one line of PEP 508, such as name[extra]>=1.2,<2.
func requirement(s string) (dependency, bool) {
	i := strings.IndexAny(s, "=<>!~ [@(")
	if i < 0 {
		return dependency{name: s}, s != ""
	}
	name, rest := s[:i], s[i:]
	if j := strings.IndexByte(rest, ']'); rest[0] == '[' && j > 0 {
		rest = rest[j+1:]
	}
	return dependency{name: name, version: strings.Trim(strings.TrimSpace(rest), "()")}, name != ""
}

func readPyproject(text string) ([]dependency, bool) {
	var doc struct {
		Project struct {
			Python   string              `toml:"requires-python"`
			List     []string            `toml:"dependencies"`
			Optional map[string][]string `toml:"optional-dependencies"`
		} `toml:"project"`
		Groups map[string][]any `toml:"dependency-groups"`
		Tool   struct {
			Poetry struct {
				List   map[string]any `toml:"dependencies"`
				Dev    map[string]any `toml:"dev-dependencies"`
				Groups map[string]struct {
					List map[string]any `toml:"dependencies"`
				} `toml:"group"`
			} `toml:"poetry"`
		} `toml:"tool"`
	}
	if _, err := toml.Decode(text, &doc); err != nil {
		return nil, false
	}
	var out []dependency
	lines := slices.Clone(doc.Project.List)
	for _, l := range doc.Project.Optional {
		lines = append(lines, l...)
	}
	for _, g := range doc.Groups {
		for _, v := range g {
			if s, ok := v.(string); ok {
				lines = append(lines, s)
			}
		}
	}
	for _, l := range lines {
		l, _, _ = strings.Cut(l, ";")
		if d, ok := requirement(strings.TrimSpace(l)); ok {
			out = append(out, d)
		}
	}
	if doc.Project.Python != "" {
		out = append(out, dependency{name: "python", version: doc.Project.Python})
	}
	out = append(out, tableDeps(doc.Tool.Poetry.List)...)
	out = append(out, tableDeps(doc.Tool.Poetry.Dev)...)
	for _, g := range doc.Tool.Poetry.Groups {
		out = append(out, tableDeps(g.List)...)
	}
	return out, true
}

func readCargo(text string) ([]dependency, bool) {
	var doc struct {
		List   map[string]any `toml:"dependencies"`
		Dev    map[string]any `toml:"dev-dependencies"`
		Build  map[string]any `toml:"build-dependencies"`
		Shared struct {
			List map[string]any `toml:"dependencies"`
		} `toml:"workspace"`
	}
	if _, err := toml.Decode(text, &doc); err != nil {
		return nil, false
	}
	return slices.Concat(tableDeps(doc.List), tableDeps(doc.Dev), tableDeps(doc.Build), tableDeps(doc.Shared.List)), true
}

// tableDeps reads name = "1.2" and name = { version = "1.2" }.
func tableDeps(list map[string]any) []dependency {
	var out []dependency
	for name, v := range list {
		d := dependency{name: name}
		switch v := v.(type) {
		case string:
			d.version = v
		case map[string]any:
			d.version, _ = v["version"].(string)
		}
		out = append(out, d)
	}
	return out
}

// named returns the lines that list a package, by its name, or by the last part of a
// Go module's.
func (m *manifests) named(name string) []dependency {
	want := plainName(name)
	var out []dependency
	for _, d := range m.all {
		if plainName(d.name) == want || !strings.Contains(name, "/") && moduleName(d.name) == want {
			out = append(out, d)
		}
	}
	return out
}

// plainName folds what package registries fold.
func plainName(s string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(s))
}

// moduleName is the last part of a Go module's path, without its major version.
func moduleName(s string) string {
	if s[:max(strings.IndexByte(s, '/'), 0)] == "" || s[0] == '@' {
		return ""
	}
	base := path.Base(s)
	if len(base) > 1 && base[0] == 'v' && isDigit(base[1]) {
		base = path.Base(path.Dir(s))
	}
	return plainName(base)
}

func dependencyListed(ctx context.Context, l *look, args []string) Answer {
	d := l.dependencies(ctx)
	if found := d.named(args[0]); len(found) > 0 {
		return holds(found[0].manifest + " lists " + args[0])
	}
	if d.files == 0 || !d.whole {
		return unknown(args[0] + " cannot be looked up: not all manifests could be read")
	}
	return fails("no manifest lists " + args[0])
}

// versionListed compares with every manifest that lists the package: one that agrees
// is enough, and where one cannot be compared nothing is said.
func versionListed(ctx context.Context, l *look, args []string) Answer {
	name, want := args[0], args[1]
	found := l.dependencies(ctx).named(name)
	if len(found) == 0 { // it may be a tool, an image, or what a dependency needs
		return unknown("no manifest lists " + name)
	}
	unsure := false
	for _, d := range found {
		switch fits(d.version, want) {
		case yes:
			return holds(d.manifest + " lists " + name + " " + d.version)
		case maybe:
			unsure = true
		}
	}
	says := found[0].manifest + " lists " + name + " " + found[0].version
	if unsure {
		return unknown(says)
	}
	return fails(says + ", not " + want)
}

type fit int

const (
	no fit = iota
	maybe
	yes
)

// fits compares a version that a memory names with what a manifest asks for. "1.2"
// names every 1.2.x.
func fits(asked, want string) fit {
	asked = strings.TrimSpace(asked)
	if asked == "" || strings.ContainsAny(asked, " ,|*:><!") || strings.HasPrefix(asked, "workspace") {
		return maybe
	}
	bare := strings.TrimLeft(asked, "^~=v")
	a, okA := numbers(bare)
	w, okW := numbers(strings.TrimPrefix(want, "v"))
	if !okA || !okW {
		if bare == strings.TrimPrefix(want, "v") {
			return yes
		}
		return maybe
	}
	n := min(len(a), len(w))
	switch {
	case slices.Equal(a[:n], w[:n]):
		return yes
	case asked[0] == '^' && a[0] > 0 && w[0] == a[0] && slices.Compare(w, a) >= 0,
		asked[0] == '~' && n > 1 && w[0] == a[0] && w[1] == a[1] && slices.Compare(w, a) >= 0:
		return yes
	}
	return no
}

// numbers reads 1.2.3; what follows a + or - is left out.
func numbers(s string) ([]int, bool) {
	s, _, _ = strings.Cut(s, "+")
	s, _, _ = strings.Cut(s, "-")
	var out []int
	for p := range strings.SplitSeq(s, ".") {
		n, err := strconv.Atoi(p)
		if err != nil || len(out) == 4 {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// targetExists reads the makefile at the project's root, then the others.
func targetExists(ctx context.Context, l *look, args []string) Answer {
	x := l.listed(ctx)
	sure, n := x.whole, 0
	for _, base := range []string{"Makefile", "makefile", "GNUmakefile"} {
		for _, p := range x.byBase[base] {
			text, err := l.readAll(p, maxRead)
			found, closed := makeTarget(text, args[0])
			if found {
				return holds(p + " has target " + args[0])
			}
			sure = sure && err == nil && closed
			n++
		}
	}
	switch {
	case n == 0 && sure && l.root != nil:
		return fails("make target " + args[0] + " is gone: there is no makefile")
	case !sure || l.root == nil:
		return unknown("make target " + args[0] + " cannot be told: the makefile makes targets by rule")
	}
	return fails("make target " + args[0] + " is gone")
}

// makeTarget reports whether a makefile has a target, and whether all of its targets
// can be read from it: not where it includes others or computes names.
func makeTarget(text, name string) (found, closed bool) {
	closed = true
	for line := range strings.Lines(text) {
		if line[0] == '\t' || line[0] == '#' || line[0] == ' ' {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if first == "include" || first == "-include" || first == "sinclude" {
			closed = false
		}
		head, rest, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(rest, "=") || strings.ContainsAny(head, "=") {
			continue
		}
		if strings.ContainsAny(head, "%$") {
			closed = false
		}
		if slices.Contains(strings.Fields(head), name) {
			return true, closed
		}
	}
	return false, closed
}

func scriptExists(ctx context.Context, l *look, args []string) Answer {
	x := l.listed(ctx)
	sure := x.whole && l.root != nil
	for _, p := range x.byBase["package.json"] {
		text, err := l.readAll(p, maxRead)
		var doc struct{ Scripts map[string]string }
		if err != nil || json.Unmarshal([]byte(text), &doc) != nil {
			sure = false
			continue
		}
		if _, ok := doc.Scripts[args[0]]; ok {
			return holds(p + " has script " + args[0])
		}
	}
	if !sure {
		return unknown("script " + args[0] + " cannot be told: not every package.json could be read")
	}
	return fails("npm script " + args[0] + " is gone")
}

// envDeclared reads one file that declares variables.
func envDeclared(_ context.Context, l *look, args []string) Answer {
	text, err := l.readAll(args[1], maxRead)
	if err != nil {
		return unknown(args[1] + " is not here or cannot be read")
	}
	found, commented := declares(text, args[0])
	switch {
	case found:
		return holds(args[1] + " declares " + args[0])
	case commented:
		return unknown(args[1] + " declares " + args[0] + " in a comment only")
	}
	return fails(fmt.Sprintf("%s no longer declares %s", args[1], args[0]))
}

// declares reports whether a dotenv file sets a name, or does so in a comment. Values
// are not looked at.
func declares(text, name string) (found, commented bool) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		rest, comment := strings.CutPrefix(line, "#")
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), "export "))
		key, _, ok := strings.Cut(rest, "=")
		if !ok || strings.TrimSpace(key) != name {
			continue
		}
		if !comment {
			return true, false
		}
		commented = true
	}
	return false, commented
}

// maxSearched bounds the files that are searched for a name.
const maxSearched = 2000

// envUsed looks for a name in dotenv files and in code. That it is in none proves
// nothing: it may be set by a service.
func envUsed(ctx context.Context, l *look, args []string) Sign {
	x := l.listed(ctx)
	n := 0
	for base, list := range x.byBase {
		if !strings.HasPrefix(base, ".env") && !isCode(path.Ext(base)) {
			continue
		}
		for _, p := range list {
			if n++; n > maxSearched || ctx.Err() != nil {
				return noSign(args[0] + " was not found in the part that was searched")
			}
			if text := l.read(p, 256<<10); strings.Contains(text, args[0]) {
				return seen(p + " uses " + args[0])
			}
		}
	}
	return noSign(args[0] + " is not declared or used in the project's files")
}
