export default {
  "jobs.none": "아직 작업이 없습니다", "jobs.none.text": "등록 정보의 가져오기와 내보내기가 여기에 표시됩니다. ‘martlet import’, ‘martlet export’ 명령이나 허브의 API로 시작할 수 있습니다.", "jobs.text": "등록 정보의 가져오기와 내보내기를 최신순으로 보여 줍니다.", "jobs.most": "최근 {n}건만 표시합니다.",
  "job.ExportRegistrations": "내보내기", "job.ImportCreateRegistrations": "가져오기: 추가", "job.ImportUpdateRegistrations": "가져오기: 변경", "job.ImportDeleteRegistrations": "가져오기: 삭제", "job.ImportUpsertRegistrations": "가져오기: 추가 또는 변경",
  "job.state.Started": "대기 중", "job.state.Running": "진행 중", "job.state.Completed": "완료", "job.state.Failed": "실패",
  "job.progress": "진행률", "job.took": "소요 시간 {time}", "job.files": "파일: 컨테이너 {container}, 폴더 {folder}", "job.allDone": "모든 줄을 처리했습니다.", "job.failedLines": "실패한 줄 ({size})", "job.someFailed": "실패한 줄이 있습니다. 관리자만 파일을 열 수 있습니다.",
};
