import MartletCore
import MartletHTTP
import MartletModel

/// The job that a client requests (NotificationHubs.md, section 9.1).
struct JobDocument {
    let kind: Job.Kind
    let outputURL: String
    let importURL: String?

    static let sizeLimit = 65_536

    init(_ body: [UInt8]) throws(HubAPIError) {
        let root: XMLElement
        do throws(XMLReaderError) {
            root = try XMLReader().read(body)
        } catch {
            throw error == .outOfMemory ? .internalError : .badRequest(error.description)
        }
        let job = root.name == "entry" ? root.child("content")?.child("NotificationHubJob") : root
        guard let job, job.name == "NotificationHubJob" else {
            throw .badRequest("The entry has no content with a NotificationHubJob")
        }
        let type = job.content("Type") ?? ""
        guard let kind = Job.Kind(rawValue: type) else {
            let known = Job.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .badRequest("'\(type.prefix(64))' is no type of job; the types are \(known)")
        }
        guard let output = job.content("OutputContainerUri") else {
            throw .badRequest("The job has no OutputContainerUri")
        }
        self.kind = kind
        outputURL = output
        importURL = kind == .export ? nil : job.content("ImportFileUri")
        if kind != .export, importURL == nil { throw .badRequest("The job has no ImportFileUri") }
    }
}
