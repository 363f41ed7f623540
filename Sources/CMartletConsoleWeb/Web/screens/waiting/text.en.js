export default {
  "title": "Waiting", "subtitle": "Scheduled sends, in {zone}.", "tab.all": "All", "tab.waiting": "Waiting", "tab.failed": "Failed",
  "none": "Nothing is scheduled", "none.text": "Sends scheduled for later are listed here by day. Until then they can be changed or withdrawn.", "confidential": "Confidential", "sendOf": "Send {id}",
  "change": "Change", "change.title": "Send at another time", "change.time": "Day and time, {zone}", "change.none": "The clocks skip this time.", "change.yes": "Change", "change.done": "Changed.", "change.withheld": "Your role cannot see the content, so you cannot change the time.",
  "withdraw": "Withdraw", "withdraw.title": "Withdraw this send?", "withdraw.text": "Nobody gets it. You can copy it as a new send later.", "withdraw.done": "Withdrawn. Nobody gets it.",
};
