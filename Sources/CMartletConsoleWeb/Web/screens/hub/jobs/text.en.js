export default {
  "jobs.none": "No jobs yet", "jobs.none.text": "Imports and exports of registrations appear here. Start one with “martlet import”, “martlet export” or the hub's API.", "jobs.text": "Imports and exports of registrations, newest first.", "jobs.most": "Only the newest {n} are listed.",
  "job.ExportRegistrations": "Export", "job.ImportCreateRegistrations": "Import: create", "job.ImportUpdateRegistrations": "Import: update", "job.ImportDeleteRegistrations": "Import: delete", "job.ImportUpsertRegistrations": "Import: create or update",
  "job.state.Started": "Queued", "job.state.Running": "Running", "job.state.Completed": "Completed", "job.state.Failed": "Failed",
  "job.progress": "Progress", "job.took": "took {time}", "job.files": "Files: container {container}, folder {folder}", "job.allDone": "Every line was processed.", "job.failedLines": "Lines that failed ({size})", "job.someFailed": "Some lines failed. An admin can open the file.",
};
