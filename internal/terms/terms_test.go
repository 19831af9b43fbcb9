package terms

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// words renders terms as kind and text: w word, x whole, c char, p pair.
func words(text string) string {
	var out []string
	for _, t := range Analyze(text) {
		out = append(out, string("wxcp"[t.Kind])+":"+t.Text)
	}
	return strings.Join(out, " ")
}

// A term that is cut differently in a note and in a prompt is never found again.
func TestAnalyze(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"Running tests", "w:run w:test"},
		{"useEffect", "x:useeffect w:us w:effect"},
		{"HTTPServer parseURLs", "x:httpserver w:http w:server x:parseurl w:par w:url"},
		{"APIs", "w:api"},
		{"snake_case_name", "x:snakecasenam w:snake w:case w:name"},
		{"internal/auth/token.go", "w:intern w:auth w:token w:go"},
		{"i18n x264 utf8 sha256sum", "x:i18n w:18 x:x264 w:264 x:utf8 w:utf x:sha256sum w:sha w:256 w:sum"},
		{"a07f3a599a2d 3f786850e387550fdab836ed7e6dc881de23001b", ""},
		{"don't the user’s", "w:user"},
		{"Ｆｕｌｌ　ｗｉｄｔｈ", "w:full w:width"},
		{"configuración Configuracion", "w:configuracion w:configuracion"},
		{"cafe\u0301 café", "w:cafe w:cafe"},
		{"数据库", "c:数 c:据 p:数据 c:库 p:据库"},
		{"用React写", "c:用 w:react c:写"},
		{"배포는", "c:배 c:포 p:배포 c:는 p:포는"},
		{"данные данных сервера", "w:данн w:данн w:сервер"},
		{"fix ✅ now", "w:fix c:✅"},
		{"เชื่อม", "c:เ c:ช p:เช c:ื p:ชื c:่ p:ื่ c:อ p:่อ c:ม p:อม"},
		{"\x00\xff\xfe'\"; DROP TABLE--", "w:drop w:tabl"},
	} {
		if got := words(c.text); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// Positions make phrases: a neighbour must stay a neighbour.
func TestPositions(t *testing.T) {
	var got []int
	for _, x := range Analyze("getUserName of 数据") {
		got = append(got, x.Pos)
	}
	if want := []int{0, 0, 1, 2, 4, 5, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A stop list that eats a topic silences recall; one that misses chat breaks silence.
func TestStop(t *testing.T) {
	for _, s := range []string{
		"ok, go on", "please continue", "try again", "thanks!", "继续", "帮我看看", "다시 해줘", "what about this one?",
		"gracias, continúa ahora", "vamos, segue então", "merci, maintenant", "danke, mach jetzt weiter", "спасибо, давай дальше", "grazie, vai avanti",
	} {
		for _, x := range Analyze(s) {
			if !Stop(x) {
				t.Errorf("%q: %q is not a stop word", s, x.Text)
			}
		}
	}
	for _, s := range []string{"deploy", "docker", "i18n", "部署", "배포", "デプロイ", "通过", "MIT", "Ant Design", "despliegue", "сервер", "Berechtigung", "base de données"} {
		if !slices.ContainsFunc(Analyze(s), func(x Term) bool { return !Stop(x) }) {
			t.Errorf("%q has no term left", s)
		}
	}
}

// Hash detection must not eat names.
func TestHashLike(t *testing.T) {
	for w, want := range map[string]bool{
		"a07f3a5": true, "deadbeefcafe": true, "7b22c9e1f0aa": true, "x7Kp2mQ9vT4z": true, "a1b2c3d4e5": true,
		"i18n": false, "x264": false, "sha256sum": false, "utf8mb4": false, "base64encode": false, "feedback": false,
		"20240101": false, "oauth2client": false, "k8s": false, "ipv6address": false, "es2015module": false, "decade": false,
	} {
		if got := hashLike(w); got != want {
			t.Errorf("%s: got %v", w, got)
		}
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{"", "useEffect HTTPServer", "数据库 배포 データ", "cafe\u0301 ﬁ ǅ İ ẞ", "\xff\xfe\x00", "a_b__c_9", "don’t", "👩‍👩‍👧 🏽", strings.Repeat("ab1", 50), "ｱｲｳ ㈱", "नमस्ते שָׁלוֹם"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := Fold(text)
		if twice := Fold(once); twice != once {
			t.Fatalf("folding is not idempotent: %q, %q, %q", text, once, twice)
		}
		last := 0
		for _, x := range Analyze(text) {
			if x.Text == "" || !utf8.ValidString(x.Text) || strings.ContainsAny(x.Text, " \"'*()\x00") {
				t.Fatalf("%q: bad term %q", text, x.Text)
			}
			if x.Pos < last-1 {
				t.Fatalf("%q: positions run back at %q", text, x.Text)
			}
			last = max(last, x.Pos)
			if Stop(x) || x.Kind == Word && len(x.Text) > maxTerm {
				continue
			}
			// A term is a text that gives itself.
			if !slices.ContainsFunc(Analyze(x.Text), func(y Term) bool { return y.Text == x.Text }) && !hashLike(x.Text) {
				t.Fatalf("%q: term %q is lost when it is analysed again: %v", text, x.Text, Analyze(x.Text))
			}
		}
	})
}

func BenchmarkAnalyze(b *testing.B) {
	for name, text := range map[string]string{
		"english": strings.Repeat("why does the deploy job fail when the keycloak realm is imported twice? ", 6),
		"chinese": strings.Repeat("为什么部署脚本在导入数据库之后失败，需要重新配置服务器？", 6),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var out []Term
			for b.Loop() {
				out = Append(out[:0], text)
			}
		})
	}
}
