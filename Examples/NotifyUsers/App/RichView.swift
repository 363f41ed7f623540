// Cannot be built where Martlet is tested: only its syntax is checked there. See README.md.
import SwiftUI
import UIKit

/// A picture that came with a rich push.
struct RichView: View {
    let picture: Picture
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        NavigationStack {
            Group {
                if let image = UIImage(contentsOfFile: picture.path) {
                    Image(uiImage: image).resizable().scaledToFit()
                } else {
                    ContentUnavailableView("This is no picture", systemImage: "doc")
                }
            }
            .navigationTitle(picture.title)
            .navigationBarTitleDisplayMode(.inline)
            .toolbar { Button("Done") { dismiss() } }
        }
    }
}
