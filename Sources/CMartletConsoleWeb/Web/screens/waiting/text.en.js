export default {
  "edit": "Edit",
  "title": "Waiting sends", "subtitle": "Times are in {zone}.", "form": "Show as", "form.agenda": "Agenda", "form.month": "Month",
  "held": "On hold", "none": "Nothing is scheduled", "none.text": "Sends scheduled for later are listed here by day. Until then they can be changed or withdrawn.",
  "month.none": "Nothing is scheduled for this day.", "month.count": { one: "1 send", other: "{n} sends" }, "month.before": "Previous month", "month.after": "Next month", "month.today": "Today",
  "change": "Change the time", "change.title": "Send at another time", "change.time": "Day and time, {zone}", "change.none": "The clocks skip this time.", "change.past": "This time has passed.", "change.done": "Changed.", "change.withheld": "Your role cannot see the content, so you cannot change the time.",
  "now": "Send now", "now.title": "Send it now?", "now.text": "It goes out in {n} seconds. Until then, it can still be stopped on its page.",
  "withdraw": "Withdraw", "withdraw.title": "Withdraw this send?", "withdraw.text": "Nobody gets it. You can copy it as a new send later.", "withdraw.done": "Withdrawn. Nobody gets it.",
};
