package settings

import (
	"strings"
	"testing"
)

// Guards against an answer that overwrites the one a person wrote, lands in another
// table, makes a file that cannot be read, or costs a comment or a line end.
func TestAddKey(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no file":        {"", "[verify]\nnetwork = true\n"},
		"other table":    {"# mine\n[llm]\nmodel = \"x\" # keep\n", "# mine\n[llm]\nmodel = \"x\" # keep\n\n[verify]\nnetwork = true\n"},
		"no last end":    {"[llm]\nmodel = \"x\"", "[llm]\nmodel = \"x\"\n\n[verify]\nnetwork = true\n"},
		"table":          {"[verify] # how\n# why\nmodel_claims = false\n[llm]\n", "[verify] # how\nnetwork = true\n# why\nmodel_claims = false\n[llm]\n"},
		"bare header":    {"[verify]", "[verify]\nnetwork = true\n"},
		"there":          {"[verify]\nnetwork = false\n", "[verify]\nnetwork = false\n"},
		"there, dotted":  {"verify.network = false\n", "verify.network = false\n"},
		"windows":        {"[llm]\r\nmodel = \"x\"\r\n", "[llm]\r\nmodel = \"x\"\r\n\r\n[verify]\r\nnetwork = true\r\n"},
		"byte order":     {"\ufeff[verify]\nmodel_claims = true\n", "\ufeff[verify]\nnetwork = true\nmodel_claims = true\n"},
		"in a string":    {"x = \"\"\"\n[verify]\n\"\"\"\n", "x = \"\"\"\n[verify]\n\"\"\"\n\n[verify]\nnetwork = true\n"},
		"inline table":   {"verify = { model_claims = true }\n", ""},
		"dotted table":   {"verify.model_claims = true\n", ""},
		"table below":    {"[verify.hosts]\nx = 1\n", "[verify.hosts]\nx = 1\n\n[verify]\nnetwork = true\n"},
		"another value":  {"verify = 3\n", ""},
		"array of table": {"[[verify]]\nmodel_claims = true\n", ""},
		"no TOML":        {"[verify\n", ""},
	} {
		got, added, err := AddKey([]byte(c.text), "verify", "network", "true")
		if (err != nil) != (c.want == "") || err == nil && (string(got) != c.want || added != (c.text != c.want)) {
			t.Errorf("%s: added %v, %v, got\n%s", name, added, err, got)
		}
		if err == nil && !strings.Contains(string(got), "network") {
			t.Errorf("%s: no key", name)
		}
	}
}
