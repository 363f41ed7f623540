export default {
  "failing.answers": "{service} has answered {status} to everything since {time}", "failing.silent": "{service} has not answered since {time}",
  "failing.origins": { one: "{host} and 1 more address", other: "{host} and {n} more addresses" },
  "failing.waiting": { one: "Pushes waiting: {count}, of 1 send.", other: "Pushes waiting: {count}, of {n} sends." }, "failing.none": "No pushes are waiting.",
  "failing.retries": "Martlet keeps trying, next at {next}. The first of them expires {last}.",
  "failing.todo.service": "No action needed. If it lasts, look at the status page of the push service.",
  "failing.todo.network": "Check the network, the firewall and the DNS of this server. If they work, the push service is down, and no action is needed.",
  "failing.todo.rate": "The push service limits the rate. Pause sends that are less urgent.",
  "failing.todo.refused": "The push service is up and does not take these pushes. Check the credential.",
};
