import MartletModel
import Synchronization

/// Caches compiled templates, so that a template is compiled once instead of for every notification.
final class CompiledTemplates: Sendable {
    private struct Key: Hashable {
        var template: Int64
        var platform: PlatformID
    }

    private typealias Cache = ByteBoundedCache<Key, Result<CompiledTemplate, TemplateError>>

    private let compiled: Mutex<Cache>

    /// - Parameter byteLimit: The maximum memory for compiled templates, in bytes.
    init(byteLimit: Int = 16 << 20) {
        compiled = Mutex(Cache(byteLimit: byteLimit))
    }

    /// The memory that the compiled templates use, in bytes.
    var bytes: Int { compiled.withLock(\.bytes) }

    /// Returns the compiled template of a binding. The compiled template escapes values for the format of the
    /// platform's templates.
    func template(
        of rendering: TemplateBinding, on platform: any PushPlatform.Type
    ) -> Result<CompiledTemplate, TemplateError> {
        let key = Key(template: rendering.id.template, platform: platform.descriptor.platform)
        if let known = compiled.withLock({ $0.value(for: key) }) { return known }
        let result = Result { () throws(TemplateError) in
            try CompiledTemplate(rendering.template, format: platform.format(of: rendering.template))
        }
        compiled.withLock { $0.insert(result, for: key, bytes: Self.bytes(of: result)) }
        return result
    }

    private static func bytes(of result: Result<CompiledTemplate, TemplateError>) -> Int {
        switch result {
        case .success(let template): template.memoryBytes
        case .failure(let error): error.description.utf8.count + 64
        }
    }
}
