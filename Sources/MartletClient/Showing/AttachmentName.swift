/// The file name extensions of attachments that a notification can show. The system recognizes the type of an
/// attachment by its extension.
enum AttachmentName {
    /// Returns the file name extension for a media type.
    /// - Parameter contentType: A media type, with or without parameters.
    /// - Returns: The extension without its dot; nil if notifications cannot show files of this type.
    static func ending(for contentType: String) -> String? {
        switch contentType.prefix(while: { $0 != ";" }).trimmingSpaces().lowercased() {
        case "image/png": "png"
        case "image/jpeg": "jpg"
        case "image/gif": "gif"
        case "audio/mpeg": "mp3"
        case "audio/mp4", "audio/x-m4a": "m4a"
        case "audio/wav", "audio/x-wav", "audio/vnd.wave": "wav"
        case "audio/aiff", "audio/x-aiff": "aiff"
        case "video/mp4": "mp4"
        case "video/mpeg": "mpg"
        default: nil
        }
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> Substring {
        var text = drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
