"""What a trained memory can do, and why."""
