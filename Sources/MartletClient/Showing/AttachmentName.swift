/// How the names of files end that a notification can show; the system goes by that.
enum AttachmentName {
    /// - Parameter contentType: With or without parameters.
    /// - Returns: Without its dot; nil where a notification does not show such files.
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
