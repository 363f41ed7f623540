export default {
  "failing.answers": "{service}: {time}부터 모든 요청에 {status} 응답", "failing.silent": "{service}: {time}부터 응답 없음",
  "failing.origins": { other: "{host} 외 주소 {n}개" },
  "failing.waiting": { other: "대기 중인 푸시 {count}건 (발송 {n}건)." }, "failing.none": "대기 중인 푸시가 없습니다.",
  "failing.retries": "Martlet이 계속 다시 시도합니다. 다음 시도: {next}. 가장 이른 만료: {last}.",
  "failing.todo.service": "할 일은 없습니다. 오래가면 푸시 서비스의 상태 페이지를 확인하세요.",
  "failing.todo.network": "이 서버의 네트워크, 방화벽, DNS를 확인하세요. 이상이 없으면 푸시 서비스의 장애이므로 할 일은 없습니다.",
  "failing.todo.rate": "푸시 서비스가 속도를 제한합니다. 급하지 않은 발송을 일시 중지하세요.",
  "failing.todo.refused": "푸시 서비스는 작동하지만 이 푸시를 받지 않습니다. 인증 정보를 확인하세요.",
};
