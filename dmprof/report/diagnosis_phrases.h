// The fixed sentences of a diagnosis by language. Those with {} are fmt formats; their arguments are the same in each.
#pragma once

#include <string_view>

#include "rules/engine/rule.h"

namespace dmprof::report {

struct Phrases {
  std::string_view budget, budget_unavailable, limited_by, critical, sum;
  std::string_view recording, withheld;
  std::string_view findings, no_findings, heading, because, check, fix, now_unknown, predicted, costs, unpredicted,
      attempt, as_above, elsewhere, other_engines;
  std::string_view tried, confirmed, no_effect, worse, from_to, exact, pairs;
  std::string_view cleared, not_judged, lacking, ask_full, refused;
  std::string_view error, warning, info, high, medium, low;

  std::string_view severity(rules::Severity severity) const {
    return severity == rules::Severity::error ? error : severity == rules::Severity::warning ? warning : info;
  }
  std::string_view confidence(std::string_view word) const {
    return word == "high" ? high : word == "medium" ? medium : word == "low" ? low : word;
  }
};

inline const Phrases& phrases(rules::Language language) {
  static constexpr Phrases en = {
      .budget = "Time budget of a decode step",
      .budget_unavailable = "Time budget unavailable: {}",
      .limited_by = " (limited by {})",
      .critical = "critical",
      .sum = "sum",
      .recording = "About the recording itself",
      .withheld = "withheld, since they rest on it: {}",
      .findings = "Findings",
      .no_findings = "No findings",
      .heading = "{} {} {} (confidence {})",
      .because = "because {}",
      .check = "check: {}",
      .fix = "fix: {} {} -> {}",
      .now_unknown = "(now unknown)",
      .predicted = ", predicted {:.2f} to {:.2f} x better {} (mid {:.2f})",
      .costs = "costs speed while it works: {} becomes {:.3f} to {:.3f} times what it is (mid {:.3f})",
      .unpredicted = "gain not predicted: {}",
      .attempt = "try: {}",
      .as_above = " (as above)",
      .elsewhere = "elsewhere: {}",
      .other_engines =
          "\"elsewhere\" says a fix in the words of other engines: c8 is the Corsair C8 card, which dm-simcard "
          "simulates; dm-engine is dmprof's own reference engine; the others bear their own names.",
      .tried = "tried: {}: {} ({})",
      .confirmed = "confirmed",
      .no_effect = "no effect",
      .worse = "worse",
      .from_to = " ({:.2f} to {:.2f})",
      .exact = "repeats exactly",
      .pairs = "{} pairs of runs",
      .cleared = "Examined, and not the problem",
      .not_judged = "Could not be judged",
      .lacking = "{}: each lacks a figure",
      .ask_full = "dmprof diagnose --full says of every rule which number cleared it or what it lacks.",
      .refused = "Rules that could not be used",
      .error = "error",
      .warning = "warning",
      .info = "info",
      .high = "high",
      .medium = "medium",
      .low = "low",
  };
  static constexpr Phrases zh = {
      .budget = "解码步的时间构成",
      .budget_unavailable = "时间构成无法得出：{}",
      .limited_by = "（受限于 {}）",
      .critical = "关键",
      .sum = "合计",
      .recording = "关于记录本身",
      .withheld = "依赖于此而未给出的结论：{}",
      .findings = "发现的问题",
      .no_findings = "未发现问题",
      .heading = "{} {} {}（置信度：{}）",
      .because = "原因：{}",
      .check = "核对：{}",
      .fix = "建议：{} {} -> {}",
      .now_unknown = "（当前值未知）",
      .predicted = "，预计 {2} 改善 {0:.2f} 至 {1:.2f} 倍（中值 {3:.2f}）",
      .costs = "代价（工作时的速度）：{} 变为原来的 {:.3f} 至 {:.3f} 倍（中值 {:.3f}）",
      .unpredicted = "收益未能预测：{}",
      .attempt = "尝试：{}",
      .as_above = "（同上）",
      .elsewhere = "其他引擎：{}",
      .other_engines =
          "“其他引擎”一行用各引擎自己的写法给出同一建议：c8 是 Corsair C8 加速卡（dm-simcard 模拟它）；dm-engine 是 "
          "dmprof 自带的参考引擎；其余为同名引擎。",
      .tried = "已试：{}：{}（{}）",
      .confirmed = "有效",
      .no_effect = "无效果",
      .worse = "变差",
      .from_to = "（{:.2f} 至 {:.2f}）",
      .exact = "结果完全可重复",
      .pairs = "{} 对运行",
      .cleared = "已检查，不是问题所在",
      .not_judged = "无法判断",
      .lacking = "{}：各缺一项数据",
      .ask_full = "dmprof diagnose --full 逐条列出排除每条规则的数字或其所缺的数据。",
      .refused = "无法使用的规则",
      .error = "错误",
      .warning = "警告",
      .info = "提示",
      .high = "高",
      .medium = "中",
      .low = "低",
  };
  return language == rules::Language::zh ? zh : en;
}

}  // namespace dmprof::report
