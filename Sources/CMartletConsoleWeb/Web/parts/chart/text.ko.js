export default { "table.sum": "{step}마다의 푸시 수", "table.highest": "{step}마다의 최댓값", "table.from": "시작" };
