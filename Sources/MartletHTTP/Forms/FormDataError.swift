/// The reason why a body is not accepted as a form.
public enum FormDataError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rule that a malformed form violates.
    public enum Fault: Hashable, Sendable {
        case noDelimiter
        case delimiterLine
        case headerLine
        case noName
        case contentType
        case transferEncoding
        case fieldText
        case epilogue
    }

    case noBoundary
    case malformed(Fault)
    /// The form ends before its last delimiter.
    case cut
    case tooManyParts(Int)
    case headersTooLarge(Int)
    case fieldTooLong(Int)
    case fileTooLarge(Int64)

    public var description: String {
        switch self {
        case .noBoundary:
            "The field Content-Type must be multipart/form-data with a boundary of 1 to 70 characters."
        case .malformed(let fault): "The form is malformed: \(fault)."
        case .cut: "The form ends before its last delimiter."
        case .tooManyParts(let limit): "The form has more than \(limit) parts."
        case .headersTooLarge(let limit): "A part of the form has more than \(limit) bytes of header lines."
        case .fieldTooLong(let limit): "A field of the form has more than \(limit) bytes."
        case .fileTooLarge(let limit): "The file has more than \(limit) bytes."
        }
    }
}

extension FormDataError.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noDelimiter: "it does not begin with its boundary"
        case .delimiterLine: "a boundary is followed by neither CR LF nor two hyphens"
        case .headerLine: "a line before the content of a part is not a header field that ends in CR LF"
        case .noName: "a part needs one Content-Disposition, which is form-data with a name"
        case .contentType: "a part has several Content-Type lines"
        case .transferEncoding: "a part has a Content-Transfer-Encoding other than 7bit, 8bit and binary"
        case .fieldText: "a field is not UTF-8"
        case .epilogue: "there is something after its last delimiter"
        }
    }
}
