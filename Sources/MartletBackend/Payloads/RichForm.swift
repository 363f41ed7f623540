import MartletHTTP

/// The form of a rich notification while it is received. Fields are kept in memory; the file is written to disk as it
/// arrives.
struct RichForm {
    private var parser: FormDataParser
    private var fields = RichFields()
    private var files = 0

    private static let needsFile = BackendError.badForm("The form needs one part named file, with the payload.")

    init(contentType: String?, limits: FormDataParser.Limits) throws(BackendError) {
        do throws(FormDataError) {
            parser = try FormDataParser(contentType: contentType, fileField: "file", limits: limits)
        } catch {
            throw BackendError(error)
        }
    }

    mutating func read(_ bytes: [UInt8], into upload: inout PayloadUpload) async throws(BackendError) {
        let events: [FormDataParser.Event]
        do throws(FormDataError) {
            events = try parser.read(bytes)
        } catch {
            throw BackendError(error)
        }
        for event in events {
            switch event {
            case .field(let name, let value): try fields.take(name, value)
            case .file(_, let contentType):
                files += 1
                guard files == 1 else { throw Self.needsFile }
                fields.contentType = contentType
            case .bytes(let bytes): try await upload.write(bytes)
            case .fileEnd: break
            }
        }
    }

    /// Returns the fields of the form after its last byte was read.
    /// - Throws: An error if the form is incomplete or has no file.
    func finished() throws(BackendError) -> RichFields {
        do throws(FormDataError) {
            try parser.finish()
        } catch {
            throw BackendError(error)
        }
        guard files == 1 else { throw Self.needsFile }
        return fields
    }
}
