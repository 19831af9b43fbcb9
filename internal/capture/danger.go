package capture

import (
	"regexp"
	"strings"
	"sync"
)

// danger is a kind of instruction that nobody but a human may let in, because an
// assistant that follows it can do harm that is hard to take back.
type danger struct {
	what string
	form *regexp.Regexp
}

var dangers = sync.OnceValue(func() []danger {
	re := regexp.MustCompile
	return []danger{
		{"runs what it loads from the network", re(`(?:curl|wget|fetch|iwr|invoke-webrequest)\b.*\|\s*(?:sudo\s+)?(?:ba|z|da|k|fi)?sh\b|\|\s*(?:sudo\s+)?(?:python3?|node|perl|ruby|iex|powershell)\b|\b(?:bash|sh|source|eval)\s*(?:-c\s*)?["']?(?:<\(|\$\()\s*(?:curl|wget)|\biex\b|downloadstring|base64\s+(?:-d|--decode|-di)\b`)},
		{"deletes without asking", re(`\brm\s+(?:-\w+\s+)*-\w*[rf]|\bremove-item\b.*-recurse|\bdel\s+/[sfq]|\brmdir\s+/s|\bfind\b.*-delete\b|\bdrop\s+(?:table|database|schema)\b|\btruncate\s+table\b|\bterraform\s+destroy\b|\bkubectl\s+delete\b|\bmkfs\b|\bdd\s+if=|\bshred\b|\bgit\s+clean\s+-\w*f|\bdocker\s+(?:system|volume)\s+prune|\bflushall\b|\bgit\s+reset\s+--hard|删库|清空数据库`)},
		{"skips checks", re(`--no-verify\b|--no-gpg-sign|core\.hookspath|\bhusky\s*=?\s*0|\bskip(?:ping)?\s+(?:the\s+|all\s+)?(?:hooks?|checks?|tests?|reviews?|ci)\b|\bdisable\s+(?:the\s+|all\s+)?(?:hooks?|checks?|reviews?|linter|security|auth|authentication|sandbox|firewall|antivirus|logging|audit)|跳过(?:钩子|检查|测试|评审|审核)|关闭(?:校验|检查|安全|防火墙|鉴权|认证)`)},
		{"switches transport security off", re(`verify\s*=\s*false|sslverify\s*(?:=\s*)?(?:false|0)|node_tls_reject_unauthorized|--insecure\b|\bcurl\b.*\s-k\b|insecureskipverify|stricthostkeychecking[\s=]*no|--trusted-host|--no-check-certificate|pythonhttpsverify|(?:disable|turn off|ignore|skip|bypass)\s+(?:the\s+)?(?:tls|ssl|https?|certificate|cert)|(?:关闭|禁用|跳过|忽略)\s*(?:tls|ssl|https?|证书)`)},
		{"rewrites what others share", re(`\bpush\s+(?:\S+\s+)*(?:-f\b|--force(?:-with-lease)?\b|--mirror\b|\+\S+)|\bforce[\s-]?push|强推|强制推送|\bfilter-branch\b|--force\s+push`)},
		{"opens permissions", re(`\bchmod\s+(?:-\w+\s+)*(?:0?777|a\+rwx|o\+w|[0-7]?666|u\+s|\+s|4755)|\bsetenforce\s+0|\bsudo\s+(?:chown|visudo|su)\b|nopasswd|--privileged\b|--cap-add|cap_sys_admin|\b0\.0\.0\.0/0\b`)},
		{"gives an assistant more power", re(`\bmcp\b.*\b(?:add|install|register|connect|enable)\b|\b(?:add|install|register|connect|enable)\b.*\bmcp\b|mcpservers|--dangerously-skip-permissions|dangerously|\byolo\b|bypass\w*\s+(?:all\s+)?permissions?|auto[\s-]?(?:approve|accept|confirm)|approve\s+(?:everything|all)|without\s+(?:asking|confirmation|permission|approval)\s+(?:for\s+)?(?:run|delete|deploy|push|install)|添加\s*mcp|安装\s*mcp|跳过权限|自动批准|allow\s+all\s+tools|--full-auto|danger-full-access`)},
		{"sends data away", re(`\b(?:upload|send|post|forward|exfiltrate|report|copy|push|pipe|transmit|email|mail|scp|rsync|sync|submit|share|include|append|attach)\b.*(?:https?://|wss?://|ftp://|@\S+\.\S+|\b\d{1,3}(?:\.\d{1,3}){3}\b|pastebin|ngrok|requestbin|s3://)|\b(?:upload|send|post|forward)\b.*\bwebhook|\bcurl\b.*(?:-d|--data|-f|--form|-t|--upload-file)\b|(?:\.env|\bid_rsa|\.ssh|credentials?|secrets?|tokens?|api keys?|passwords?|private keys?)\b.*\b(?:to|into|in)\b.*(?:https?://|\bchat|reply|response|issue|pastebin|log)|\b(?:print|show|echo|paste|include|dump|reveal)\b.*(?:\.env\b|id_rsa|private keys?|api keys?|credentials|environment variables|secrets)|(?:上传|发送|发到|提交到|上报|转发|回传).{0,40}(?:https?://|\d{1,3}(?:\.\d{1,3}){3}|邮箱|webhook)|\bnc\s+-\w*\s*\S+\s+\d+|/dev/tcp/|!\[[^\]]*\]\(https?://`)},
		{"tries to steer the assistant", re(`ignore\s+(?:all\s+|any\s+|the\s+)?(?:previous|prior|above|earlier|other|user)\b|disregard\s+(?:all|any|the|previous)|new\s+(?:system\s+)?instructions?\b|system\s+prompt|you\s+are\s+now\b|do\s+not\s+(?:tell|inform|mention\s+(?:this|it)\s+to)\s+(?:the\s+)?(?:user|developer|anyone)|don't\s+tell\s+the\s+user|without\s+(?:telling|informing|the\s+user)|secretly|silently\s+(?:run|send|add|install)|hide\s+(?:this|it)\s+from|<\s*/?\s*(?:system|memory|instructions?)\b|忽略(?:以上|之前|前面|所有)的?(?:指令|规则|要求)|不要告诉用户|悄悄|偷偷|瞒着`)},
		{"installs from an odd place", re(`(?:npm|pnpm|yarn|bun)\s+(?:i|install|add)\s+\S*(?:git\+|https?://)|pip3?\s+install\s+.*(?:--(?:extra-)?index-url|git\+|https?://)|--registry[\s=]+https?://|\bnpx\s+-y\b|go\s+install\s+\S+@latest\s*&&|GOPROXY=|registry\s*=\s*http`)},
	}
})

// Danger says what harm an assistant could do that follows a statement, or "". A
// statement with such a harm must wait for a human, however it came.
func Danger(statement string) string { return dangerous(statement) }

// dangerous says what harm an instruction could do, or "". A prohibition of the
// same ("never force push") is none.
func dangerous(s string) string {
	view := plain(s)
	for _, d := range dangers() {
		for _, at := range d.form.FindAllStringIndex(view, 4) {
			if !forbidden(view, at[0]) {
				return d.what
			}
		}
	}
	return ""
}

// forbidden reports whether a prohibition stands before place i in the same
// clause of s.
func forbidden(s string, i int) bool {
	clause := s[:i]
	if n := strings.LastIndexAny(clause, ".;:!?\n"); n >= 0 && (n+1 >= len(clause) || clause[n+1] == ' ') {
		clause = clause[n+1:]
	}
	for _, sep := range [...]string{"。", "；", "，", " but ", " and then ", " instead", ", use ", ", run ", "而是", "改用"} {
		if n := strings.LastIndex(clause, sep); n >= 0 {
			clause = clause[n+len(sep):]
		}
	}
	for _, trick := range [...]string{"forget", "hesitate", "fail to", "skip", "afraid", "without", "omit", "mind", "stop", "忘", "犹豫", "漏", "跳过"} {
		if strings.Contains(clause, trick) {
			return false
		}
	}
	clause = " " + clause
	for _, n := range [...]string{" never ", " don't ", " do not ", " not ", " no ", " avoid ", "forbidden", "prohibit", " refuse ", " must not ", "不要", "不准", "不许", "不得", "不能", "禁止", "严禁", "别", "勿", "절대", "금지", "決して", "禁止"} {
		if strings.Contains(clause, n) {
			return true
		}
	}
	return false
}
