"""What a person does: learn, recall, inspect, compare, measure capacity. Free of terminal and
browser.
"""
