#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

/// A player of protected movies.
@interface MoviePlayer : NSObject

/// Plays a movie and releases the previous one.
- (void)playURL:(NSURL *)url title:(NSString *)title;

@end

NS_ASSUME_NONNULL_END
