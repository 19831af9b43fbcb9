package capture

import (
	"regexp"
	"strings"
	"sync"
)

// strength is how plainly a cue says that something is to be kept.
type strength int

const (
	noCue    strength = 0
	standing strength = 4 // a standing rule by its words: always, never, 统一使用
	asked    strength = 5 // asked to be remembered, or "from now on"
)

// language holds the cues of one language. All patterns see one sentence, lower
// case, with plain quotes and, for Chinese, simplified forms of the cue words.
// A sentence that a stop pattern matches holds no cue, whatever else it says.
type language struct {
	name string
	// asked and standing are the cues; strip is taken off the front of what is
	// kept, as words that only address the assistant.
	asked, standing, strip *regexp.Regexp
	// refers is a word in it that points at a neighbouring sentence.
	refers *regexp.Regexp
	// record asks to write something down as a rule; what is meant stands behind
	// a colon or in the neighbouring sentences.
	record *regexp.Regexp
	// question, oneOff, reported and telling are the stop patterns: it asks; it
	// holds for this once or one place; somebody else says it; it describes.
	question, oneOff, reported, describes *regexp.Regexp
	// back takes something back; corrects replaces what was said before.
	back, corrects *regexp.Regexp
	// person marks what is true of the user in every project; here names this
	// one, and wins.
	person, here *regexp.Regexp
	// forbids and decides give the type.
	forbids, decides *regexp.Regexp
	// vague are words that make no rule by themselves.
	vague *regexp.Regexp
}

var english = sync.OnceValue(func() *language {
	re := regexp.MustCompile
	return &language{
		name: "en",
		asked: re(`^(?:remember|keep in mind|bear in mind|memori[sz]e)(?: that\b|:|,| this:| the following:| for (?:the )?(?:future|next time|later)\b| (?:we|i|our|my)\b)` +
			`|^(?:remember to|don't forget to|do not forget to)\b.*\b(?:always|every|each|before|after|when|whenever|from now on|in future|in the future)\b` +
			`|^(?:don't|do not) forget(?:,|:| that)? we (?:only|never|always|don't|do not|use|deploy|release|ship|run|store|keep|write|name|commit|merge|squash|rebase|support|target|pin|test|log|call)\b` +
			`|\b(?:from now on|from here on(?: out)?|going forward|moving forward|as a (?:general |global )?rule|for (?:all )?future (?:reference|sessions|work|tasks|prs|commits))\b` +
			`|\bin (?:the )?future,? (?:please|always|never|don't|do not|you should|use|run|ask|avoid)\b|\b(?:please|always|never|don't|do not)\b.*\bin (?:the )?future$` +
			`|^i(?:'ve| have)? (?:already )?(?:told|asked) you\b[^:,.?]{0,30}[:,] ?(?:always|never|use|don't|do not|stop|only)\b` +
			`|^when i (?:say|write|type) ['"].*\b(?:i mean|it means|that means|means|do|run|you should)\b` +
			`|^(?:add|create|make|write) (?:a|an|another|the|this) (?:new )?(?:cursor |global |project |claude |agent )?rule (?:that|which|saying|to say|:|specifying)\b.*\b(?:always|never|when|whenever|before|after|must|should|only|don't|do not)\b`),
		standing: re(`^(?:always|never) [a-z]+\b` +
			`|\b(?:you|we|claude|agents?|assistants?) (?:should|must|need to|have to|shall|are to) (?:always|never)\b` +
			`|\bwe (?:always|never|only ever|only) (?:use|write|put|keep|name|run|commit|merge|rebase|squash|deploy|follow|prefer|store|log|return|ship|test|push|format|document|call|import|pin)\b` +
			`|^(?:all|every|each|any|no) (?:new )?(?:[a-z-]+ ){0,3}?(?:commits?|commit messages?|prs?|pull requests?|tests?|functions?|files?|modules?|class(?:es)?|components?|migrations?|branch(?:es)?|docs?|comments?|imports?|variables?|names?|rules?|scripts?|dependenc(?:y|ies)|packages?|releases?|log messages?|error messages?|queries|identifiers?|secrets?|timestamps?|subcommands?|code|strings?)\b.*\b(?:must|should|shall) (?:always|never|only)\b` +
			`|\bmake sure (?:to|you|that you|we) (?:always|never)\b` +
			`|\bin (?:this|our) (?:repo|repository|project|codebase|code base|team|company),? we (?:always |never |only |don't |do not |generally )?(?:use|prefer|follow|keep|write|name|put|stick|commit|squash|rebase|run|call|speak|avoid)\b` +
			`|\bin (?:this|our) (?:repo|repository|project|codebase|code base|team|company)\b.*\b(?:is|are) always\b` +
			`|^(?:use|write|put|keep|name|run|apply|do|ask|show|answer|commit|format)\b.*,? always[.!]*$|^(?:use|prefer)\b.*,? (?:and )?never [a-z]` +
			`|\bi (?:really |strongly |generally |usually |always )?prefer [a-z]+.*\b(?:over|instead of|rather than|when)\b|\bi (?:always|never) (?:want|use|write|commit|squash|rebase|deploy)\b|\bi want you to (?:always|never)\b` +
			`|^(?:please )?(?:don't|do not|stop) .*\b(?:ever again|again|any ?more)\b` +
			`|\bwhenever (?:you|we|i)\b.*,? (?:run|use|ask|update|add|check|always|never|make sure|write|tell|first)\b` +
			`|^(?:don't|do not) (?:push|commit|merge|deploy|release|publish|re-?init|reset|rebase|squash|restart|install|upgrade|bump|mock|hard-?code|guess|assume|ask|auto-?format|force)[a-z]*\b.*(?:, |\. |; | - )?\b(?:we (?:don't|do not|never|want|need|lose|would)|because|otherwise|or else|since (?:we|it|that)|it (?:breaks|will|would))\b` +
			`|^(?:don't|do not|never) (?:mock|stub|fake)\b.* in (?:the |our )?(?:integration|e2e|end-to-end|acceptance|system) tests\b` +
			`|\bwe (?:don't|do not|never) (?:commit|push|use|mock|deploy|merge|ship|gitignore|hard-?code|log|store|rebase|squash|publish|release|cache) (?:[b-hj-su-z]|a[a-z]|the whole|all |any )` +
			`|\b(?:use|in|with) (?:the )?(?:british|american|us|uk) (?:english|spelling)\b|^(?:always )?(?:answer|reply|respond|talk|speak) (?:to me )?(?:always )?in (?:english|chinese|german|french|spanish|japanese|korean|russian|portuguese|italian)\b` +
			`|^(?:make sure (?:to|you|we)|run|format|lint|rebuild|regenerate|bump)\b.*\b(?:before|after|on|with) (?:every|each|any) (?:single )?(?:commit|push|merge|release|change|pr|pull request|edit|task|deploy|deployment|build)\b` +
			`|\bwe(?:'ve| have)? (?:decided|agreed|settled) (?:that|to|on)\b|^decision\b[^:]{0,30}:`),
		strip: re(`^(?:(?:please|pls|ok|okay|also|and|but|so|yes|yep|yeah|no|nope|btw|by the way|well|alright|great|good|perfect|nice|right|correct|thanks|thank you|now|then|hey|oh|ah|actually|again|plus|one more thing|another thing|first|second|finally|important|note that|note|fyi|just|go ahead|looks good|lgtm|claude)\b[,.:;! -]*)+`),
		record: re(`\b(?:record|add|write|put|save|document|store|note|include|append)\b[^.?]{0,60}\b(?:as a (?:global |general |new )?rule|(?:this|that|my|our|these|those) (?:preferences?|rules?|conventions?)|to (?:your |the |our )?memory|(?:in|to|into) (?:the )?(?:project |team |our |your )?(?:conventions|guidelines)|cursor rules?|rules file|claude\.md|agents\.md|gemini\.md|conventions\.md|contributing\.md|copilot-instructions(?:\.md)?|\.cursorrules|\.cursor/rules)` +
			`|^(?:remember|memori[sz]e) (?:this|that|it)[.!]*$|\bmake (?:a|this a|that a|it a) rule\b`),
		refers:   re(`\b(?:this|that|it|these|those)\b`),
		question: re(`\?['")\s]*$|^(?:can|could|would|will|shall|may|might) (?:you|we|i|it|the|this|that|they|there|somebody|someone)\b|^(?:do|does|did|is|are|was|were|has|have|had|am|isn't|aren't|don't|doesn't|didn't|should|shouldn't) (?:you|we|i|it|the|this|that|they|there|these|those|my|our|your)\b|^(?:why|what|how|where|who|which|any idea|any suggestions)\b|^when (?:do|does|did|is|are|will|should|can|was)\b|\bi wonder\b|\bwhat if\b|\bhow about\b|\bmaybe (?:we|you|i)\b|\bnot sure (?:if|whether)\b|\bshould we\b|\bcan we\b`),
		oneOff: re(`\bjust (?:this )?once\b|\bthis (?:time|once)\b|\bfor now\b|\bfor the moment\b|\bfor the time being\b|\btemporar(?:y|ily)\b|\bonly (?:here|this time|now)\b|\bright now\b|\bat the moment\b|\b(?:today|tonight|tomorrow)\b|\byet\b|\buntil (?:we|i|the|then|it|you)\b` +
			`|\bfor (?:this|the current|that) (?:pr|commit|task|branch|session|feature|ticket|issue|test|file|change|run|release|demo|one|step|case|endpoint|function|page|component|sprint|call|refactor|migration|conversation|chat)\b` +
			`|\b(?:in|on|at|to|of|inside|from) (?:this|that|the current) (?:file|function|method|component|test|endpoint|script|class|page|screen|branch|pr|commit|case|session|conversation|chat|modal|dialog|view|button|column|table|query|task|ticket|issue|line|loop|block|step)\b|\b(?:skip|ignore) (?:it|that|this|the)\b.*\b(?:this|now)\b|\bexception\b.*\bthis\b`),
		reported: re(`\b(?:docs?|documentation|readme|article|page|guide|manual|tutorial|linter|error|message|claude|chatgpt|copilot|gemini|coworker|colleague|reviewer|he|she|they|it|spec|ticket|log|output|comment|someone|somebody|people|customers?|users?|website|blog|answer|stack ?overflow|the model|the ai|the bot|prompt) (?:says?|said|suggests?|suggested|recommends?|recommended|told|tells|claims?|claimed|wants?|states?|keeps? saying|advises?)\b|\baccording to\b|\bquote\b|\b(?:button|label|title|toast|banner|text|heading|tooltip|placeholder) (?:should )?(?:say|says|read|reads)\b`),
		describes: re(`\b(?:it|this|that|which|there|they|he|she|who|these|those|server|test|tests|build|app|page|query|api|command|function|method)(?:'s|'ll|'d| is| are| was| has| will| would| can| does| did| just| still| should| must)? (?:always|never)\b` +
			`|^(?:always|never) (?:mind|works?|worked|fails?|failed|returns?|returned|been|seen|had|has|was|were|is|are|gets?|got|ends?|shows?|happens?|happened|the|a|an|on|in|up|true|false|null|there|again|gonna|going|tried|used to|knew|thought|heard|needed|a problem)\b|^(?:always|never) (?:show|hide|display|render|redirect|open|close|scroll|highlight|cent(?:er|re)|align|load|fetch|play|trigger|fire|appear|visible|keep the|animate|focus|expand|collapse|sort)\b|\byou (?:always|never) [a-z]+\b|\byou should never (?:see|get|have|need)\b|\bwe (?:always|never|only ever|only) [a-z]+ (?:it|this|that|them|those|these)\b|\bwhenever (?:you|we|i) (?:click|press|open|scroll|hover|select|type|drag|tap|submit|log|enter|visit|start|refresh)|\bwe(?:'ll| will) never\b|\bi (?:always|never) (?:get|got|see|saw|have|had|know|knew|find|found|forget|thought|heard)\b|\bas always\b|\bif i (?:ever|never)\b|\bi(?:'d| would)? prefer (?:it|this|that|the|option|[a-d]\b|your|these|those|to|number|first|second|one|\d)|\bas a rule of thumb\b`),
		back:     re(`\bscratch that\b|\bnever ?mind\b|\bforget (?:that|it|what i said|about (?:that|it)|the .{0,20}rule)\b|\bignore (?:that|what i said|my (?:last|previous)|the .{0,20}rule)\b|\bi take (?:that|it) back\b|\bdisregard (?:that|what|my)\b|\bon second thoughts?\b|\bi(?:'ve| have)? changed my mind\b|\bundo that rule\b|\bno longer (?:needed|necessary|applies|valid|true)\b|\bi was wrong\b|\bdon't remember (?:that|this)\b|\bthat rule (?:is|was) (?:wrong|off|void)\b`),
		corrects: re(`^(?:actually|wait|no,|no wait|correction|sorry|hmm|instead|oops|rather)\b|\bafter all\b|\bi meant\b`),
		person:   re(`\bglobal(?:ly)? (?:rule|preference)|\b(?:in|for|across) (?:all|every|any|each of) (?:my |of my |our |other )?(?:repos?|repositor(?:y|ies)|projects?)\b|\beverywhere i\b|\bnot just (?:for|in) this\b|\bnot just for\b|\bi (?:really |strongly |generally |usually |always |never )?(?:prefer|want you|use|write)\b|\b(?:ask|asking|call|tell|telling|show|give|answer|interrupt|remind|address) me\b|\bmy (?:preference|name|timezone|time zone|editor|style)\b|\b(?:reply|answer|respond|talk|speak|write) (?:to me )?in (?:english|chinese|german|french|spanish|japanese|korean)\b`),
		here:     re(`\b(?:this|our|the) (?:repo|repository|project|codebase|code base|monorepo|team|company)\b`),
		forbids:  re(`\bnever\b|\bdon't\b|\bdo not\b|\bmust\b|, no [a-z]+|\bforbidden\b|\bnot allowed\b|\bavoid\b|\bstop\b`),
		decides:  re(`\bdecided\b|\bagreed\b|\bsettled\b|^decision\b`),
		vague:    re(`^(?:clean|good|better|best|careful|carefully|readable|quality|nice|proper|properly|correct|correctly|bug|mistake|practice|code|test|thing|stuff|way|work|time|always|never|rule|remember|future|forward|now|make|sure|write|double|check|think|hard|thorough|thoroughly|error|issue|problem|again|please|note|use|do|everything|anything|something|like|learn|preference|convers|convention|cursor|global|record|add|document)$`), //nolint:misspell // index terms are stems
	}
})

var chinese = sync.OnceValue(func() *language {
	re := regexp.MustCompile
	return &language{
		name: "zh",
		asked: re(`^(?:你|你要|要|务必|一定要|千万要|帮我|麻烦你?|大家)?(?:记住|牢记|谨记)(?:了|一下|一点|这点|这条|这个规则|下面)?[:：,，、。 ]*.{3}` +
			`|^(?:帮我|麻烦你?|你)?(?:记一下|记下来?|记录一下)[:：,，]` +
			`|^(?:我|都|已经|跟你|和你|早就)+说过(?:了|多少[次遍]了?|好几[次遍]了?|很多[次遍]了?)?[,，:：、 ].{0,40}?(?:不要|别用|必须|一律|统一|要用|只用|只能|不能|不准|不许)` +
			`|记得.{0,20}(?:每次|以后|都要|都得)|(?:每次|以后).{0,20}记得` +
			`|(?:^|[,，:：;；、。 ]|你|您|我们|咱们|咱|请|那|大家|代码|提交|项目里?)(?:以后|今后|往后)[,，:： ]?.{0,24}?(?:都|请|要|不要|不准|不许|不能|别|必须|就用|就按|统一|一律|只用|只能|只|每次|默认|不用|务必|禁止|先)` +
			`|(?:从今以后|从现在开始|从现在起|从今天起|从今往后|之后都|后续都|接下来都|后面都|下次|下回)[,，:： ]?.{0,24}?(?:都|请|要|不要|不准|不许|不能|别|必须|就用|就按|统一|一律|只用|只能|只|每次|默认|不用|务必|禁止|先)` +
			`|我说[“"'「『].{1,20}[”"'」』].{0,8}(?:就是|意思是|表示|指的是|代表|等于|时)`),
		standing: re(`(?:不要再|别再|不许再|不准再|别老|不要老|别总|不要总|别老是|不要总是)(?:用|使用|写|加|提交|生成|创建|问|自动|直接|推|建|引入|出现|省略|漏|忘|犯|把|给我|重复|随意|擅自|commit|push|add|use|merge)` +
			`|^(?:永远不要|千万不要|千万别|绝对不要|绝不要|绝不能|绝对不能|一定不要|任何时候都不要|任何情况下都不)` +
			`|(?:统一|一律|始终|永远)(?:使用|都用|用|采用|放|写|走|以|按|叫|命名|不用|不要|不|只)` +
			`|(?:每次|凡是|每当).{1,24}(?:都要|都必须|必须|务必|一定要|都得|都用|不要|不能|不得|都先|先|要先|一律|记得)` +
			`|(?:所有|任何|全部)(?:的)?(?:代码|提交|commit|注释|文档|函数|变量|测试|接口|api|pr|分支|文件|日志|sql|配置|迁移|回复|回答|密钥|时间|金额|表名|命名|类名|组件|改动|修改|脚本).{0,24}(?:必须|一律|不得|不允许|禁止|不准|都用|都要|都必须)` +
			`|我(?:更|比较|一般|通常|个人|平时|一直|都)?(?:喜欢|偏好|习惯|倾向于?)(?:用|使用|看|写|把|先|让|于|你|简|短|直)` +
			`|^(?:一直|始终|全程|都)?(?:用|使用|说)(?:中文|英文|英语|简体中文|繁体中文|日语|日文)(?:来)?(?:回答|回复|交流|沟通|对话|跟我|和我)` +
			`|我希望你(?:以后|每次|总是|始终|一直|都)` +
			`|我们(?:的)?(?:项目|团队|这边|公司|组|仓库)?(?:里|中|内)?(?:约定|规定|统一|一律|一般|一直|都是|都|只|从不|始终|一律不|都不)(?:用|使用|不用|采用|写|走|按|放|准|允许|能用)` +
			`|(?:这个|本|我们)(?:项目|仓库|工程|代码库)(?:里|中|内)?(?:都|只|一律|统一|始终|必须|不要|不能|不准|禁止|严禁|从不|一直)` +
			`|^(?:我们)?(?:已经)?(?:决定|商定|敲定|约定)(?:了)?[:：,，]?.{4}|^决策[:：]`),
		strip:     re(`^(?:(?:好的?|好吧|行|可以|嗯+|对了?|是的|没错|另外|还有|顺便|请|麻烦|那|那么|然后|注意|ok|okay|重要|提醒一下|补充一下|最后|首先|其次|对|谢谢|不错|很好|辛苦了|你)[,，。:：;；!！ 、]*)+`),
		record:    re(`(?:写|加|添加|更新|记录|保存|放|补充|记|沉淀)(?:到|进|入|在|成)?.{0,12}(?:claude\.md|agents\.md|gemini\.md|记忆|全局规则|项目规范|开发规范|编码规范|项目约定|cursor ?rules?|\.cursorrules|规则文件)`),
		refers:    re(`这|该|上面|以上|它|此`),
		question:  re(`[?？][”"'」）)\s]*$|(?:吗|呢|么|吧)[。!！~ ]*$|^(?:为什么|为啥|怎么|如何|什么|哪|是否|能否|有没有|谁)|为什么|为啥|是不是|能不能|可不可以|要不要|会不会|行不行|好不好|怎么办|有没有`),
		oneOff:    re(`这次|本次|这一次|这回|暂时|临时|目前先|先这样|今天|明天|现在先|眼下|就这一|仅此|这里|此处|这儿|(?:这个|这几个|这些|该|当前|那个|这两个|上面的?|下面的?)(?:页面?|按钮|函数|方法|文件|接口|组件|bug|任务|pr|分支|提交|功能|需求|字段|表|图|弹窗|列表|脚本|测试|case|模块|问题|改动|commit|标题|图标|样式|菜单|参数|变量|类|报错|错误|步骤|东西)|以后再|以后可能|以后会|以后可以|以后能|以后有|以后需要|以后还|以后想|以后考虑|以后打算|以后升级|以后优化|以后扩展|以后支持|以后才|以后应该会|以后方便|下次再说|^(?:把|将|帮我把|给).{0,30}(?:统一|一律)`),
		reported:  re(`(?:文档|手册|官方|教程|网上|文章|同事|客户|老板|领导|用户|ai|gpt|claude|他|她|他们|报错|提示|日志|页面|博客|评论|邮件)(?:里|中|上)?(?:都|也)?(?:说|写着?|建议|要求|推荐|提到|提示|显示|告诉)|根据.{0,12}(?:文档|手册|文章|建议)|提示语|文案|记住(?:密码|登录|账号|用户|状态|选择|位置|历史|滚动|我的?(?:登录|选择|密码|账号)|功能|按钮)`),
		describes: re(`(?:它|他|她|系统|程序|服务|页面|接口|浏览器|测试|编译)(?:还是|还|就|也)?(?:总是|一直|始终|永远|每次)|每次(?:都)?(?:报错|失败|出错|崩|卡|超时|返回|重启|会|出现|提示|显示)|每次(?:用户)?.{0,4}(?:点击|点|打开|进入|刷新|登录|切换|滑动|滚动|请求|加载|启动|上传|下载|发送|收到|调用|选择|输入|对话|生成)|(?:始终|永远)(?:不会|不能|不变|不显示|显示|在|是)|(?:决定|选)(?:用|选|采用)?(?:方案|第)|一直(?:报错|失败|在|卡|超时)|永远(?:是|都是|为|返回)`),
		back:      re(`算了|当我没说|收回|(?:刚才|之前|上面|前面)(?:说的|那条|的规则|的要求).{0,8}(?:不算|作废|取消|不要了|错了|忽略)|不用记|别记|不要记|改主意|还是(?:算了|不用|别)|撤回|取消(?:刚才|之前|这条|那条|上面)|(?:我)?(?:之前|刚才)?说错了?|忽略(?:上面|刚才|之前)`),
		corrects:  re(`^(?:不对|其实|更正|应该是|等等|等一下|抱歉|哦不|还是)`),
		person:    re(`全局|所有项目|每个项目|任何项目|我(?:更|比较|一般|通常|个人|平时|一直|都)?(?:喜欢|偏好|习惯|倾向|希望你)|(?:回答|回复|回覆|告诉|问|叫|称呼)我|(?:用|使用|说)(?:中文|英文|英语|简体|繁体|日语|日文)(?:回答|回复|交流|沟通|跟我|和我|输出)`),
		here:      re(`(?:这个|本|该|我们|咱们)(?:的)?(?:项目|仓库|团队|公司|代码库|工程)`),
		forbids:   re(`一定要|不要|不准|不许|不能|不得|别|禁止|严禁|必须|务必|一律|只能|绝不|千万`),
		decides:   re(`决定|商定|敲定|约定|^决策`),
		vague:     re(`^(?:以后|记住|不要|一律|统一|使用|必须|注意|认真|仔细|小心|代码|质量|规则|每次|规范|问题|错误|再犯|好好|检查|清楚|优雅)$`),
	}
})

var korean = sync.OnceValue(func() *language {
	re := regexp.MustCompile
	return &language{
		name:      "ko",
		asked:     re(`기억해|기억하|앞으로(?:는|도)?\s.*(?:해줘|해 줘|하세요|하자|쓰지|말고|말아|마세요|마$|마\.|써줘|써 줘|(?:넣어|붙여|달아|적어|남겨|지켜|따라|맞춰|피해|확인해|알려|물어봐) ?줘|사용|할 것|해야|금지|주세요)`),
		standing:  re(`(?:항상|언제나|무조건|반드시)\s.*(?:해줘|해 줘|하세요|해주세요|써줘|써 줘|사용해|사용하세요|할 것|해야 (?:해|한다|합니다)|주세요)|절대(?:로)?\s.*(?:하지 ?마|쓰지 ?마|사용하지 ?마|말 것|말아|마세요|안 돼|금지)|다시는\s.*(?:하지 ?마|쓰지 ?마|말아)`),
		strip:     re(`^(?:(?:그리고|네|좋아요?|참고로|아|음|그럼|그래|자|추가로)[,.:! ]+)+`),
		record:    re(`(?:claude\.md|agents\.md|규칙|메모리).{0,10}(?:추가|기록|저장|적어)`),
		refers:    re(`이걸|이것|이거|위`),
		question:  re(`[?？]\s*$|(?:까요|나요|니|을까|ㄹ까|인가요|는지)[.!]*$|왜|어떻게|무엇`),
		oneOff:    re(`이번|지금|오늘|일단|잠깐|임시|당분간|여기|이 (?:파일|함수|페이지|버튼|화면|테스트|브랜치)`),
		reported:  re(`(?:문서|에러|메시지|로그|고객|동료).{0,4}(?:에 따르면|라고|에서)`),
		describes: re(`(?:항상|언제나)\s.*(?:실패|에러|오류|안 됨|안돼요|나와|표시|보여|보이|열리|열려|됩니다$|된다$)`),
		back:      re(`취소|아니다|잊어|됐어|무시해|없던 걸로`),
		corrects:  re(`^(?:아니|사실|정정)`),
		person:    re(`모든 프로젝트|나한테|나에게|저에게|저한테|한국어로|영어로|존댓말|반말`),
		here:      re(`이 프로젝트|이 저장소|이 레포|우리 팀`),
		forbids:   re(`마|금지|반드시|절대|무조건|말고|말 것`),
		decides:   re(`결정했|하기로 했`),
		vague:     re(`^(?:항상|앞으로|기억|해줘|반드시|절대|사용)$`),
	}
})

var japanese = sync.OnceValue(func() *language {
	re := regexp.MustCompile
	return &language{
		name:      "ja",
		asked:     re(`覚えて(?:おいて|ください|下さい|$)|(?:今後は|これからは|以後は|次回から).*(?:ください|下さい|ないで|すること|して|使う|禁止|お願い)`),
		standing:  re(`(?:必ず|常に|毎回|いつも).*(?:してください|して下さい|使ってください|すること|使うこと|書いてください|してほしい)|(?:絶対に|決して|二度と).*(?:ないで|しない|禁止|使わない|してはいけない)`),
		strip:     re(`^(?:(?:はい|では|あと|それと|ちなみに|また|了解|ありがとう|なお)[、,。！ ]*)+`),
		record:    re(`(?:claude\.md|agents\.md|ルール|メモリ).{0,8}(?:追加|記録|書いて|保存)`),
		refers:    re(`これ|それ|上記`),
		question:  re(`[?？]\s*$|(?:か|かな|でしょう)[。.]*$|なぜ|どうして|どうやって`),
		oneOff:    re(`今回|とりあえず|一旦|今だけ|ここ|今日|この(?:ファイル|関数|画面|ボタン|ページ|テスト|ブランチ)|必ずしも`),
		reported:  re(`(?:ドキュメント|エラー|ログ|記事|同僚|公式)(?:に|で|が|は).{0,10}(?:と書|と言|によ)`),
		describes: re(`(?:いつも|常に|毎回).*(?:失敗|エラー|落ち|表示|開く|になる$|なります$)`),
		back:      re(`やっぱり|取り消|忘れて|なしで|撤回`),
		corrects:  re(`^(?:いや|実は|訂正)`),
		person:    re(`全プロジェクト|すべてのプロジェクト|私に|日本語で|英語で`),
		here:      re(`このプロジェクト|このリポジトリ|うちのチーム`),
		forbids:   re(`ないで|しない|禁止|必ず|絶対|いけない`),
		decides:   re(`決め(?:た|ました)|することにした`),
		vague:     re(`^(?:必ず|常に|今後|覚え|使用)$`),
	}
})

// languagesOf returns the languages whose cues s may hold, by its script.
func languagesOf(s string) []*language {
	var han, kana, hangul, latin bool
	for _, r := range s {
		switch {
		case r >= 0x4e00 && r <= 0x9fff:
			han = true
		case r >= 0x3041 && r <= 0x30fa:
			kana = true
		case r >= 0xac00 && r <= 0xd7a3:
			hangul = true
		case r >= 'a' && r <= 'z':
			latin = true
		}
	}
	switch {
	case hangul:
		return []*language{korean()}
	case kana:
		return []*language{japanese()}
	case han:
		return []*language{chinese()}
	case latin:
		return []*language{english()}
	}
	return nil
}

func kana(r rune) bool { return r >= 0x3041 && r <= 0x30fa }

// traditional and simplified are the characters of the cues, one for one: a
// sentence in traditional characters is looked at in simplified ones.
const (
	traditional = "記後統須別從現開請規則說們這個專項為麼麻煩帶寫錄務絕對許準總問題應該時間間幾關閉處檔頁鈕數據據據臨測試單選還會讓給習慣傾於歡簡約決敲動隨擅複犯禁嚴當條進級優擴庫網標圖樣參變類報錯"
	simple      = "记后统须别从现开请规则说们这个专项为么麻烦带写录务绝对许准总问题应该时间间几关闭处档页钮数据据据临测试单选还会让给习惯倾于欢简约决敲动随擅复犯禁严当条进级优扩库网标图样参变类报错"
)

var simplifier = sync.OnceValue(func() *strings.Replacer {
	from, to := []rune(traditional), []rune(simple)
	// 所以后端 holds no 以后.
	pairs := append(make([]string, 0, 2*len(from)+2), "所以", "因此")
	for i := range from {
		pairs = append(pairs, string(from[i]), string(to[i]))
	}
	return strings.NewReplacer(pairs...)
})

// seen returns a sentence as the cues see it.
func seen(s string) string {
	p := plain(s)
	if hasCJK(p) && !strings.ContainsFunc(p, kana) {
		p = simplifier().Replace(p)
	}
	return p
}
