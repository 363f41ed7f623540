export default { "table.sum": "Pushes in each {step}", "table.highest": "The highest in each {step}", "table.from": "From" };
