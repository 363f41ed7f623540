export default {
  "title": "Waiting", "subtitle": "Sends that wait for their time, in {zone}.", "tab.all": "All", "tab.waiting": "Waiting", "tab.failed": "Failed",
  "none": "Nothing waits", "none.text": "Sends that are scheduled for later stand here by day, and can be changed or withdrawn until then.", "confidential": "Confidential", "sendOf": "Send {id}",
  "change": "Change", "change.title": "Send at another time", "change.time": "Day and time, {zone}", "change.none": "Clocks skip this time.", "change.yes": "Change", "change.done": "Changed.", "change.withheld": "Your role does not see the content, so it cannot change the time.",
  "withdraw": "Withdraw", "withdraw.title": "Withdraw this send?", "withdraw.text": "Nobody gets it. It cannot be brought back, but copied as a new send.", "withdraw.done": "Withdrawn: nobody gets it.",
};
