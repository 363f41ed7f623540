export default {
  "user.former": "Former devices", "user.sends": "What was meant for {name}", "user.none": "No recent sends were meant for these devices.", "user.lookedBack": "Searched back to {time}", "user.further": "Search further back",
};
