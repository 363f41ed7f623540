export default {
  "check.languages": "언어가 다른 기기({names})는 첫 번째 언어로 받습니다.", "looks.language": "미리보기 언어",
  "looks.empty": "글과 대상이 있으면 기기가 받을 내용 그대로 미리 보여 줍니다.", "looks.none": "이 대상 중에 내용을 받는 기기가 없습니다.", "looks.note": "실제 내용에서 읽은 것입니다. 나머지는 기기 설정에 따르며, 여기서는 이미지를 불러오지 않습니다.",
  "json": "JSON으로 보기", "json.byHand": "직접 작성함", "json.back": "만들어진 내용으로 되돌리기", "json.title": "{service} 내용", "json.label": "기기가 받는 내용", "json.take": "이대로 쓰기", "json.bad": "JSON이 아닙니다.",
  "checking": "검사 중", "check.noText": "먼저 제목이나 내용을 쓰세요.", "check.nobody": "먼저 대상을 고르세요.", "check.fields": "표시된 항목을 고치세요.",
  "check.accepted": { other: "기기 {n}대로 보낼 수 있습니다" }, "check.warned": { other: "기기 {n}대에 보낼 수 있지만 문제가 있습니다" }, "check.first": "{n}대 중 처음 {first}대에 보낸 뒤 기다립니다", "check.notAccepted": "거부될 것입니다", "check.refused": "서버가 거부합니다",
  "check.tooLarge": "{service}: 메시지가 {size}바이트이며 {limit}바이트까지 됩니다.", "check.tooLarge.text": "내용을 줄이거나 ‘이미지, 소리, 데이터 등’에서 ‘{box}’를 선택하세요.", "check.tooLarge.cut": "내용이 없어도 크기를 넘습니다. 데이터, 링크, 버튼을 줄이세요.",
  "check.missing": { other: "{service}: 인증 정보가 없어 기기 {n}대는 받지 못합니다" }, "check.unusable": "{service}: 인증 정보를 쓸 수 없습니다", "check.unchecked": "{service}: 지금은 인증 정보를 확인하지 못했습니다",
  "check.templates": { other: "템플릿만 있는 기기 {n}대는 받지 못합니다" }, "check.lasts": "이 속도로 {time} 걸립니다", "check.at": "검사 시각 {time}. 내용이 바뀌면 무효입니다.",
  "count.nobody": "아직 대상을 고르지 않았습니다.", "counting": "세는 중", "count.templates": { other: "템플릿 등록 {n}건은 이런 메시지를 받지 않습니다." },
};
