package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// component is a part of a CycloneDX bill of materials.
// https://cyclonedx.org/docs/1.6/json/
type component struct {
	Type       string         `json:"type"`
	Ref        string         `json:"bom-ref"`
	Name       string         `json:"name"`
	Version    string         `json:"version,omitempty"`
	PURL       string         `json:"purl,omitempty"`
	Hashes     []digest       `json:"hashes,omitempty"`
	Properties []property     `json:"properties,omitempty"`
	Licences   []licenceEntry `json:"licenses,omitempty"`
}

type digest struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type licenceEntry struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

type bill struct {
	Format   string `json:"bomFormat"`
	Spec     string `json:"specVersion"`
	Serial   string `json:"serialNumber"`
	Version  int    `json:"version"`
	Metadata struct {
		Time      string    `json:"timestamp"`
		Component component `json:"component"`
	} `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

// linked reads from the binaries themselves which modules they contain.
func linked(programs []file) ([]debug.Module, string, error) {
	seen := map[string]debug.Module{}
	goVersion := ""
	for _, p := range programs {
		info, err := buildinfo.Read(bytes.NewReader(p.data))
		if err != nil {
			return nil, "", fmt.Errorf("%s says nothing of its modules: %w", p.name, err)
		}
		goVersion = info.GoVersion
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			seen[m.Path] = *m
		}
	}
	var modules []debug.Module
	for _, m := range seen {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b debug.Module) int { return strings.Compare(a.Path, b.Path) })
	return modules, goVersion, nil
}

// sbom returns the bill of materials of the programs of one target.
func sbom(s stamp, programs []file) ([]byte, error) {
	modules, goVersion, err := linked(programs)
	if err != nil {
		return nil, err
	}
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1}
	b.Metadata.Time = s.time.Format(time.RFC3339)
	root := component{Type: "application", Ref: product.name, Name: product.name, Version: s.version, Licences: make([]licenceEntry, 1)}
	root.Licences[0].Licence.ID = product.licence
	b.Metadata.Component = root
	all := sha256.New()
	top := dependency{Ref: root.Ref}
	for _, p := range programs {
		sum := sha256.Sum256(p.data)
		all.Write(sum[:])
		b.Components = append(b.Components, component{Type: "file", Ref: "file:" + p.name, Name: p.name, Hashes: []digest{{"SHA-256", hex.EncodeToString(sum[:])}}})
	}
	std := debug.Module{Path: "std", Version: strings.TrimPrefix(goVersion, "go")}
	for _, m := range append(modules, std) {
		purl := "pkg:golang/" + strings.ReplaceAll(m.Path, "%", "%25") + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
		c := component{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
		if m.Sum != "" {
			c.Properties = []property{{"go:sum", m.Sum}}
		}
		b.Components = append(b.Components, c)
		top.DependsOn = append(top.DependsOn, purl)
	}
	b.Dependencies = []dependency{top}
	id := all.Sum(nil)[:16] // a UUID of version 8 (RFC 9562): ours, made from the bytes
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	b.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

// notices returns the licences of Go and of every module, which their terms ask
// for wherever the binaries go.
func notices(ctx context.Context, src string, modules []debug.Module) ([]byte, error) {
	var out bytes.Buffer
	add := func(name, dir string) error {
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			return err
		}
		found := false
		for _, n := range names {
			upper := strings.ToUpper(filepath.Base(n))
			if !strings.HasPrefix(upper, "LICEN") && !strings.HasPrefix(upper, "NOTICE") && !strings.HasPrefix(upper, "COPYING") {
				continue
			}
			text, err := os.ReadFile(n) // #nosec G304 -- in the module cache
			if err != nil {
				continue // a folder of that name
			}
			found = true
			fmt.Fprintf(&out, "==== %s: %s\n\n%s\n\n", name, filepath.Base(n), bytes.TrimSpace(text))
		}
		if !found {
			return fmt.Errorf("%s comes without a licence: it may not be passed on", name)
		}
		return nil
	}
	root, err := command(ctx, src, nil, "go", "env", "GOROOT")
	if err == nil {
		err = add("Go", strings.TrimSpace(string(root)))
	}
	for _, m := range modules {
		var dir []byte
		if err == nil {
			dir, err = command(ctx, src, []string{"GOFLAGS=-mod=readonly"}, "go", "list", "-m", "-f", "{{.Dir}}", m.Path+"@"+m.Version)
		}
		if err == nil {
			err = add(m.Path+" "+m.Version, strings.TrimSpace(string(dir)))
		}
	}
	return out.Bytes(), err
}
