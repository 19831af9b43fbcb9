package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// All secrets of the tests are drawn and put together at run time, so that no
// scanner finds one in the repository.

const (
	setLower = "abcdefghijklmnopqrstuvwxyz"
	setUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	setDigit = "0123456789"
	setHex   = "0123456789abcdef"
	setWord  = setLower + setUpper + setDigit
	setB64   = setWord + "-_"
)

func draw(r *rand.Rand, set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[r.IntN(len(set))]
	}
	// At least one digit and one letter, as real generators nearly always give.
	if strings.Contains(set, "0") && !strings.ContainsAny(string(b), setDigit) {
		b[n/2] = '7'
	}
	return string(b)
}

func drawPassword(r *rand.Rand) string {
	words := []string{"Summer", "Kite", "rabbit", "Tr0ub", "Qwer", "Harbor", "lemon", "Dragon", "Zebra"}
	w := words[r.IntN(len(words))]
	switch r.IntN(4) {
	case 0:
		return w + draw(r, setDigit, 4) + string("!@#$%"[r.IntN(5)])
	case 1:
		return draw(r, setWord, 9) + "#" + draw(r, setDigit, 2)
	case 2:
		return w + "@" + draw(r, setDigit, 3) + strings.ToUpper(draw(r, setLower, 2))
	default:
		return "P" + "@ss" + draw(r, setWord, 6) + "9"
	}
}

// kindOf is one kind of secret: what it looks like in a text.
type kindOf struct {
	name string
	make func(r *rand.Rand) (text, secret string)
}

// say puts a secret into one of the sentences people write around secrets.
func say(r *rand.Rand, secret string) string {
	frames := []string{
		"I exported KEY=%s and it still fails",
		"use %s for now",
		"这个key是%s，先用着",
		"密钥%s放在环境变量里",
		"- **Token**: `%s`",
		"{\"k\": \"%s\"}",
		"see (%s).",
		"key: %s\nport: 8443",
		"토큰은 %s 입니다",
		"curl -H 'X-Key: %s' https://api.example.test/v1",
	}
	return fmt.Sprintf(frames[r.IntN(len(frames))], secret)
}

func prefixed(name, a, b, set string, n int) kindOf {
	return kindOf{name, func(r *rand.Rand) (string, string) {
		s := a + b + draw(r, set, n)
		return say(r, s), s
	}}
}

func framed(name string, frames []string, secret func(r *rand.Rand) string) kindOf {
	return kindOf{name, func(r *rand.Rand) (string, string) {
		s := secret(r)
		return fmt.Sprintf(frames[r.IntN(len(frames))], s), s
	}}
}

func positiveKinds() []kindOf {
	hex := func(n int) func(*rand.Rand) string { return func(r *rand.Rand) string { return draw(r, setHex, n) } }
	b62 := func(n int) func(*rand.Rand) string { return func(r *rand.Rand) string { return draw(r, setWord, n) } }
	list := []kindOf{
		prefixed("aws", "AK", "IA", setUpper+"234567", 16), prefixed("aws-temporary", "AS", "IA", setUpper+"234567", 16),
		prefixed("github-pat", "gh", "p_", setWord, 36), prefixed("github-oauth", "gh", "o_", setWord, 36),
		prefixed("github-app", "gh", "s_", setWord, 36), prefixed("github-fine", "github_", "pat_", setWord, 70),
		prefixed("gitlab", "gl", "pat-", setB64, 20), prefixed("gitlab-runner", "gl", "rt-", setB64, 20),
		prefixed("anthropic", "sk", "-ant-api03-", setB64, 93), prefixed("openai-project", "sk", "-proj-", setB64, 60),
		prefixed("openai", "sk", "-", setWord, 48), prefixed("deepseek", "sk", "-", setHex, 32),
		prefixed("openrouter", "sk", "-or-v1-", setHex, 64), prefixed("google-api", "AI", "za", setB64, 35),
		prefixed("google-oauth", "ya", "29.", setB64, 60), prefixed("google-secret", "GOC", "SPX-", setB64, 28),
		prefixed("slack-bot", "xo", "xb-", setDigit+setLower, 40), prefixed("slack-user", "xo", "xp-", setDigit+setLower, 40),
		prefixed("slack-app", "xa", "pp-1-", setUpper+setDigit, 40), prefixed("slack-hook", "https://hooks.", "slack.com/services/T0/B0/", setWord, 24),
		prefixed("discord-hook", "https://discord", ".com/api/webhooks/123456789012345678/", setWord, 60),
		prefixed("stripe-live", "sk", "_live_", setWord, 24), prefixed("stripe-restricted", "rk", "_live_", setWord, 24),
		prefixed("stripe-webhook", "wh", "sec_", setWord, 32), prefixed("twilio", "S", "K", setHex, 32),
		prefixed("sendgrid", "S", "G.", setWord, 66), prefixed("mailgun", "ke", "y-", setHex, 32),
		prefixed("npm", "np", "m_", setWord, 36), prefixed("pypi", "pypi-", "AgEIcHlwaS5vcmc", setB64, 60),
		prefixed("docker", "dckr", "_pat_", setB64, 27), prefixed("huggingface", "h", "f_", setWord, 34),
		prefixed("shopify", "sh", "pat_", setHex, 32), prefixed("digitalocean", "dop", "_v1_", setHex, 64),
		prefixed("doppler", "dp", ".pt.", setWord, 43), prefixed("doppler-service", "dp", ".st.prd.", setWord, 43),
		prefixed("linear", "lin", "_api_", setWord, 40), prefixed("notion", "nt", "n_", setWord, 46),
		prefixed("figma", "fi", "gd_", setB64, 40), prefixed("vault", "hv", "s.", setWord, 90),
		prefixed("databricks", "da", "pi", setHex, 32), prefixed("grafana", "gl", "sa_", setWord, 32),
		prefixed("newrelic", "NR", "AK-", setUpper+setDigit, 27), prefixed("postman", "PM", "AK-", setHex, 58),
		prefixed("planetscale", "psc", "ale_pw_", setWord, 40), prefixed("square", "sq0", "atp-", setB64, 22),
		prefixed("age", "AGE-SECRET", "-KEY-1", setUpper+setDigit, 58), prefixed("groq", "gs", "k_", setWord, 52),
		prefixed("replicate", "r", "8_", setWord, 37), prefixed("supabase", "sb", "p_", setHex, 40),
		prefixed("tailscale", "ts", "key-auth-", setWord, 30), prefixed("alibaba", "LT", "AI", setWord, 20),
		prefixed("atlassian", "ATA", "TT3", setB64, 100), prefixed("sonar", "sq", "u_", setHex, 40),
		prefixed("sentry", "snt", "rys_", setWord, 80), prefixed("rubygems", "ruby", "gems_", setHex, 48),
		{"telegram", func(r *rand.Rand) (string, string) {
			s := "6" + draw(r, setDigit, 9) + ":A" + "A" + draw(r, setB64, 33)
			return say(r, s), s
		}},
		{"mailchimp", func(r *rand.Rand) (string, string) { s := draw(r, setHex, 32) + "-us" + "12"; return say(r, s), s }},
		{"discord-bot", func(r *rand.Rand) (string, string) {
			s := "M" + draw(r, setWord, 23) + "." + draw(r, setWord, 6) + "." + draw(r, setB64, 32) + "a"
			return say(r, s), s
		}},
		{"azure-secret", func(r *rand.Rand) (string, string) {
			s := draw(r, setWord, 3) + "8Q" + "~" + draw(r, setWord, 34)
			return say(r, s), s
		}},
		{"zhipu", func(r *rand.Rand) (string, string) {
			s := draw(r, setHex, 32) + "." + draw(r, setWord, 16)
			return say(r, s), s
		}},
		{"jwt", func(r *rand.Rand) (string, string) {
			s := "eyJhbGci" + "OiJIUzI1NiJ9.eyJ" + draw(r, setB64, 30) + "." + draw(r, setB64, 42) + "x"
			return say(r, s), s
		}},
		{"jwt-cut", func(r *rand.Rand) (string, string) {
			s := "eyJhbGci" + "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ" + draw(r, setB64, 8) + "x"
			return say(r, s[:24+r.IntN(len(s)-24)]), s[:24]
		}},
	}
	list = append(list,
		framed("url-password", []string{"postgres://admin:%s@10.0.0.5:5432/prod", "redis://:%s@cache:6379/0", "连接串是mongodb+srv://app:%s@cluster0.example.net/db"}, drawPassword2),
		framed("bearer", []string{"curl -H \"Authorization: Bearer %s\" https://x.test", "Authorization: Bearer %s", "bearer %s"}, b62(40)),
		framed("basic", []string{"Authorization: Basic %s", "'authorization': 'Basic %s'"}, b62(24)),
		framed("cookie", []string{"Cookie: theme=dark; sid=%s; lang=en", "Set-Cookie: session=%s; Path=/; HttpOnly"}, b62(32)),
		framed("assigned-hex", []string{"API_TOKEN=%s", "secret: %s", "\"client_secret\": \"%s\"", "- **Token**: %s", "**API Key**: `%s`", "| Token | %s |", "apiKey = '%s';"}, hex(40)),
		framed("assigned-base62", []string{"export SECRET_KEY=%s", "aws_secret_access_key = %s", "密钥：%s", "token=%s&x=1", "令牌为%s", "토큰: %s", "AccountKey=%s;EndpointSuffix=x"}, b62(40)),
		framed("assigned-short", []string{"api_key: %s", "CLIENT_SECRET=\"%s\""}, b62(20)),
		framed("password-assigned", []string{"DB_PASSWORD=%s", "password: %s", "passwd = \"%s\"", "pwd=%s;", "<password>%s</password>", "Password (staging): %s", "--password %s --host db", "비번: %s", "密码：%s", "口令: %s"}, drawPassword),
		framed("password-told", []string{"the staging password is %s", "password for the admin account is %s, ok?", "数据库密码是 %s", "root密码为%s。", "密码改成%s了", "비밀번호는 %s 입니다", "changed the password to %s", "パスワードは%s です", "ssh root@10.0.0.7 密码 %s"}, drawPassword),
		framed("pem", []string{"-----BEGIN " + "RSA PRIVATE KEY-----\n%s\n-----END RSA " + "PRIVATE KEY-----", "key: \"-----BEGIN " + "PRIVATE KEY-----\\n%s\\n-----END PRIVATE " + "KEY-----\""}, b62(64)),
		framed("pem-cut", []string{"-----BEGIN " + "OPENSSH PRIVATE KEY-----\n%s", "%s\n-----END " + "PRIVATE KEY-----"}, b62(64)),
		framed("private-span", []string{"the vendor is <private>%s</private>, keep it", "<PRIVATE>%s</PRIVATE>"}, func(r *rand.Rand) string { return "Acme " + draw(r, setLower, 8) }),
		framed("signed-url", []string{"https://a.blob.example.test/c?sv=2024&sig=%s", "https://b.test/o?X-Amz-Signature=%s&x=1"}, hex(64)),
	)
	return list
}

func drawPassword2(r *rand.Rand) string {
	return "F4" + draw(r, setWord, 8) + "-" + draw(r, setLower, 4)
}

// cleanNote writes a note as developers write them, with everything in it that
// looks like a secret and is none.
func cleanNote(r *rand.Rand) string {
	pick := func(l ...string) string { return l[r.IntN(len(l))] }
	hex := func(n int) string { return draw(r, setHex, n) }
	uuid := func() string { return hex(8) + "-" + hex(4) + "-" + hex(4) + "-" + hex(4) + "-" + hex(12) }
	name := func() string {
		return pick("user", "order", "session", "cache", "billing", "report") + pick("Service", "Handler", "Store", "Client", "Index") + pick("", "V2", "Test", "3")
	}
	parts := []func() string{
		func() string { return "fixed in commit " + hex(40) },
		func() string { return "the image is pinned at sha256:" + hex(64) },
		func() string { return "session " + uuid() + " failed" },
		func() string { return "token: " + uuid() },
		func() string { return "the client reads apiKey: import.meta.env.VITE_KEY" },
		func() string { return "there is no API key in the build at all" },
		func() string { return "password: process.env.DB_PASSWORD" },
		func() string { return "DB_PASSWORD=${DB_PASSWORD:-}" },
		func() string { return "set token to ${{ secrets.GITHUB_TOKEN }}" },
		func() string { return "postgres://app:<password>@localhost:5432/app" },
		func() string { return "Authorization: Bearer <token>" },
		func() string { return "Authorization: Bearer $TOKEN" },
		func() string { return "api_key = os.environ[\"OPENAI_API_KEY\"]" },
		func() string { return "the token expires after " + draw(r, "123456789", 2) + " minutes" },
		func() string { return "password must have at least " + draw(r, "123456789", 2) + " characters" },
		func() string { return "password is hashed with argon2id" },
		func() string { return "passwords: bcrypt, cost 12" },
		func() string { return "password: string; token?: string; secret: SecretString" },
		func() string { return "const token = getAccessToken(" + name() + ")" },
		func() string {
			return "secretName: " + pick("app-tls", "db-credentials", "registry-pull") + "-prod-2024"
		},
		func() string { return "token = " + name() + "." + pick("accessToken", "refreshToken2") },
		func() string { return "tokenizer: cl100k_base, max_tokens: 4096" },
		func() string { return "primary_key: order_line_item_id_2024_partition" },
		func() string { return "cache_key=" + hex(64) },
		func() string { return "integrity sha512-" + draw(r, setWord, 86) + "==" },
		func() string { return "密码错误时返回401，令牌过期返回403" },
		func() string { return "密码长度至少12位，口令要定期更换" },
		func() string { return "密钥放在 Vault 里，不要写进代码" },
		func() string { return "令牌是 JWT 格式，用 RS256 签名" },
		func() string { return "비밀번호는 8자 이상, 토큰은 24시간 유효" },
		func() string { return "パスワードは8文字以上" },
		func() string { return "Cookie: SameSite=Lax; Secure; HttpOnly; Path=/ is what we set" },
		func() string { return "see docs/" + name() + ".md and internal/auth/token.go" },
		func() string { return "run `docker run -u 1000:1000 app:1.2.3`" },
		func() string { return "git clone git@github.com:org/repo.git" },
		func() string { return "ssh://git@git.example.test:2222/org/repo.git" },
		func() string { return "http://localhost:8443/health?token=abc" },
		func() string { return "basic authentication is off; bearer authentication is on" },
		func() string { return "the secret is to test early" },
		func() string { return "key: value, port: 8443, version: v1.2.3-rc.4" },
		func() string { return "MAX_TOKEN=200000 and TOKEN_LIMIT=" + draw(r, "123456789", 6) },
		func() string { return "set `secret_key_base` in config/" + name() + ".yml" },
		func() string { return "--password-stdin is used, never --password" },
		func() string { return "use `your-api-key` as a placeholder: sk-" + strings.Repeat("x", 24) },
		func() string { return "api_key: \"YOUR_API_KEY_HERE_1234567890\"" },
		func() string {
			return "etag " + hex(32) + " in s3://bucket/" + name() + "/2026-03-02/part-00001.parquet"
		},
		func() string { return "trace id " + hex(32) + ", span " + hex(16) },
		func() string { return "password reset via /auth/reset-password/v2" },
		func() string { return "the access key is stored in 1Password" },
		func() string { return "the token is sent in the X-Auth-Token header" },
		func() string { return "eval `" + name() + "` with 3 workers; it is 2.5x faster" },
		func() string { return "credential: AzureCliCredential2Factory" },
		func() string { return "auth token rotation happens in rotateRefreshToken2FA" },
	}
	var b strings.Builder
	for range 2 + r.IntN(4) {
		b.WriteString(parts[r.IntN(len(parts))]())
		b.WriteString(pick(". ", "\n", "; ", "。"))
	}
	return b.String()
}
