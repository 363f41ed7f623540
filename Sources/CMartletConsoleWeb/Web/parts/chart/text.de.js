export default { "table.sum": "Pushs in je {step}", "table.highest": "Der höchste Wert in je {step}", "table.from": "Ab" };
