package tidy

import (
	"fmt"
	"strings"
	"testing"

	"stillso"
)

// Who forgets one person's attribute must not lose another's, nor the other half
// of a statement.
func TestAbout(t *testing.T) {
	store := []string{
		"Ada works from the Elm office.", "Ben also works from the Elm office.",
		"Cleo and Dan both watch the Pluto board.",
		"Eli's desk is Room 12 and his badge is owl-7.",
		"Fay does not have root access to the vault.",
		"Gus keeps archives on shelf A-9 and labels boxes with tag moss.",
		"The main mail is hal@x.test.", "The spare mail is hal.two@x.test.",
		"Dr. Moss and Dr. Reed both treat ward 3.", "Jo, Kim and Lee are on the Neptune shift.",
		"The patient's dose is 5 mg; his allergy is penicillin.", "The relay listens on port 81 and logs to Loki.",
		"Ivy first used Vim as her editor.", "Ivy later switched to Emacs for macros.",
	}
	for words, want := range map[string]string{
		"Ada Elm office":            "Ada works from the Elm office.",
		"Cleo Pluto board":          "Cleo and Dan both watch the Pluto board. -> Dan watches the Pluto board.",
		"Eli desk":                  "Eli's desk is Room 12 and his badge is owl-7. -> Eli's badge is owl-7.",
		"Fay root access vault":     "",
		"Gus archives shelf":        "Gus keeps archives on shelf A-9 and labels boxes with tag moss. -> Gus labels boxes with tag moss.",
		"hal@x.test mail":           "The main mail is hal@x.test.",
		"Ivy editor":                "Ivy first used Vim as her editor. | Ivy later switched to Emacs for macros.",
		"Dr. Moss ward 3":           "Dr. Moss and Dr. Reed both treat ward 3. -> Dr. Reed treats ward 3.",
		"Kim Neptune shift":         "Jo, Kim and Lee are on the Neptune shift. -> Jo and Lee are on the Neptune shift.",
		"Patient dose":              "The patient's dose is 5 mg; his allergy is penicillin. -> The patient's allergy is penicillin.",
		"relay port":                "The relay listens on port 81 and logs to Loki. -> The relay logs to Loki.",
		"Zoe Elm office":            "",
		"":                          "",
		"where does everybody work": "",
	} {
		var list []*stillso.Memory
		for i, s := range store {
			list = append(list, fact(fmt.Sprintf("m%d", i), 50-i, s))
		}
		var got []string
		for _, x := range About(words, list) {
			s := x.Memory.Content
			if x.Rest != "" {
				s += " -> " + x.Rest
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " | "); s != want {
			t.Errorf("%q names %q, want %q", words, s, want)
		}
	}
	variants := []*stillso.Memory{fact("a", 3, "It is called RIVER-BED."), fact("b", 2, "Some write River Bed."), fact("c", 1, "The key is river_bed."), fact("d", 1, "The river bed of data.")}
	if got := Spelled("RIVER-BED project", variants); len(got) != 4 {
		t.Errorf("%d spellings", len(got))
	}
}

func FuzzAbout(f *testing.F) {
	f.Add("Cleo Pluto board", "Cleo and Dan both watch the Pluto board.")
	f.Add("北京 中心", "区域中心在北京。")
	f.Fuzz(func(t *testing.T, words, content string) {
		m := fact("m", 1, content)
		for _, x := range append(About(words, []*stillso.Memory{m}), Spelled(words, []*stillso.Memory{m})...) {
			if x.Memory != m {
				t.Error("another memory")
			}
		}
	})
}
