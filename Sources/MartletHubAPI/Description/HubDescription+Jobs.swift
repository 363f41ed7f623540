import MartletHTTP
import MartletOpenAPI

extension HubDescription {
    var jobs: APIGroup {
        Self.hubGroup(
            "Jobs", "Imports and exports of registrations, as lines of files in this server's containers.",
            [
                APIOperation(
                    .post, "/{hub}/jobs", id: "createJob", "Start a job: import, delete or export", body: Self.atomBody,
                    answers: [APIAnswer(.created, "The job.", Self.entry, headers: Self.ids + [Self.location])]),
                APIOperation(
                    .get, "/{hub}/jobs", id: "listJobs", "List the jobs, latest first",
                    answers: [APIAnswer(.ok, "The jobs.", Self.feed, headers: Self.ids)]),
                APIOperation(
                    .get, "/{hub}/jobs/{id}", id: "getJob", "Read one",
                    answers: [APIAnswer(.ok, "The job.", Self.entry, headers: Self.ids)]),
            ])
    }
}
