#if canImport(AVFoundation)
    import LatchkeyAVFoundation

    extension KeyAlerts {
        /// Explains to the viewer that the picture is black because a display does not protect it as the license requires.
        func show(_ notice: AVPlayerKeys.Notice) {
            switch notice {
            case .protectionChanged(_, .insufficient):
                alert("This display cannot show the film. Disconnect it, or watch on this device.")
            case .streamedInstead: alert("The film cannot be downloaded while you watch it over AirPlay.")
            default: break
            }
        }
    }
#endif
