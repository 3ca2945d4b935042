-- The published form of "Achieving Anonymity via Clustering" (Aggarwal et al. 2006, figure 1):
-- one row per cluster, with its center, size, radius and the multiset of diseases.

CREATE TABLE patients (age INTEGER, location INTEGER, disease VARCHAR);

INSERT INTO patients VALUES
    (30, 100, 'Flu'), (32, 100, 'Flu'),
    (60, 203, 'Hypertension'), (60, 200, 'Flu'), (60, 197, 'Cold');

SELECT * FROM anonymize_clusters('patients', k=2, sensitive=['disease']);
